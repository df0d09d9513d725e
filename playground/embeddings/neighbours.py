"""Which tokens lie near a word, and near what adding and subtracting words leads to."""

from __future__ import annotations

from functools import lru_cache

import torch
from torch import Tensor

from lessons.words import Words, same
from model.embeddings import Neighbour, Usual, analogy, middle, nearest, usual
from model.errors import PlaygroundError
from playground.arithmetic import Explanation, Num, cell
from playground.embeddings.state import SHOWN, EmbeddingsState
from playground.embeddings.sums import Vector, compared, mean, numbered
from playground.embeddings.words import Reading, name_of, read, told, typeable, wte
from playground.flow import Flow, Matrix
from playground.gpt.parts import do
from playground.html import Html, esc, number

MOST = 20  # neighbours that are kept in mind
KEYS = ("word", "minus", "plus")  # of arithmetic: word − minus + plus


@lru_cache(maxsize=64)
def ranked(
    model: str, ids: tuple[tuple[int, ...], ...], exclude: tuple[int, ...]
) -> tuple[list[Neighbour], Usual]:
    """The nearest rows of wte, and how near a row usually is."""
    table, vector = wte(model), vector_of(model, ids)
    return nearest(table, vector, MOST, exclude=exclude), usual(table, vector, exclude=exclude)


def vector_of(model: str, ids: tuple[tuple[int, ...], ...]) -> Tensor:
    """Of one word its vector; of three the first − the second + the third."""
    words = torch.stack([middle(wte(model), word) for word in ids])
    return words[0] if len(words) == 1 else analogy(words, 1, 0, 2)


# Neighbours


def flow(state: EmbeddingsState, lang: str) -> Flow:
    word = read(state)
    several, names = len(word.ids) > 1, [*word.pieces, word.label]
    matrices = [rows_matrix([(n,) for n in word.ids], state, range(len(word.ids)))]
    if several:
        matrices.append(mean_matrix(word, state, len(word.ids)))
    near = near_of(word)[: state.count]
    source = Vector(word.vector, "mean" if several else "rows", 0, state.column)
    matrices.append(
        beside(
            source, near, state, lang, [len(word.ids), *range(len(names), len(names) + len(near))]
        )
    )
    names += [name_of(state.model, n.index) for n in near]
    return Flow(matrices, {"names": names})


def near_of(word: Reading) -> list[Neighbour]:
    """The nearest tokens; of a word that is a token, the others."""
    return ranked(word.model, (word.ids,), exclude_of(word))[0]


def exclude_of(word: Reading) -> tuple[int, ...]:
    return word.ids if len(word.ids) == 1 else ()


def rows_matrix(ids: list[tuple[int, ...]], state: EmbeddingsState, rows: range) -> Matrix:
    """The shown columns of each word's vector; of several tokens, their mean."""
    table = torch.stack([middle(wte(state.model), word) for word in ids])
    shown = table[:, state.column : state.column + SHOWN]

    def why(flow: Flow, m: Matrix, i: int, j: int) -> Explanation:
        column = state.column + j
        if len(ids[i]) == 1:
            return Explanation(
                ["wte[", Num(ids[i][0]), ",", Num(column), "]"], float(m.values[i, j])
            )
        return mean([Num(v) for v in wte(state.model)[list(ids[i]), column].double().tolist()])

    return Matrix(
        "rows",
        "wte",
        shown,
        rows=list(rows),
        headers=numbered(state.column, shown.size(1)),
        why=why,
        digits=4,
        line="wte.weight[token, column]",
    )


def mean_matrix(word: Reading, state: EmbeddingsState, row: int) -> Matrix:
    shown = word.vector[None, state.column : state.column + SHOWN]

    def why(flow: Flow, m: Matrix, i: int, j: int) -> Explanation:
        rows = flow.get("rows")
        return mean([cell(rows, r, j) for r in range(len(word.ids))])

    return Matrix(
        "mean",
        "mean",
        shown,
        rows=[row],
        headers=numbered(state.column, shown.size(1)),
        op=Words("mean of the rows", "행들의 평균"),
        why=why,
        digits=4,
        line="wte.weight[tokens].mean(dim=0)",
    )


def beside(
    source: Vector, near: list[Neighbour], state: EmbeddingsState, lang: str, rows: list[int]
) -> Matrix:
    """The vector itself and its neighbours: dot product, length, cosine."""
    table = wte(state.model)
    others = [Vector(table[n.index].double()) for n in near]
    op = Words("nearest rows of wte", "wte에서 가장 가까운 행")
    return compared("neighbours", "cosines", [source, *others], source, lang, rows=rows, op=op)


def top(state: EmbeddingsState, lang: str) -> Html:
    word = read(state)
    near, found = ranked(word.model, (word.ids,), exclude_of(word))
    said = NEAREST(
        lang,
        word=f"<b>{esc(word.label)}</b>",
        best=f"<b>{esc(name_of(state.model, near[0].index))}</b>",
        cosine=rounded(near[0].cosine),
    )
    chips = [
        do(name_of(state.model, n.index), "look", "chip", token=n.index)
        for n in near[: state.count]
        if typeable(state.model, n.index)
    ]
    on = f'<div class="presets"><span class="kick">{esc(GO_ON(lang))}</span>{"".join(chips)}</div>'
    return Html(
        f'<p class="sentence">{said}</p>{told(word, lang)}{usually(found, lang)}{on if chips else ""}'
    )


NEAREST = Words(
    "Nearest to {word} lies {best}: cosine {cosine}.",
    "{word}에 가장 가까운 토큰은 {best}입니다. 코사인 유사도는 {cosine}입니다.",
)
GO_ON = Words("Go on from", "이어서 보기")
USUAL = Words(
    "For comparison: the mean of all tokens is {mean}, and 1 in 100 is above {high}.",
    "비교 기준: 토큰 전체의 평균은 {mean}이고, 100개에 1개만 {high}보다 큽니다.",
)


def rounded(cosine: float) -> str:
    """Two decimals; four where two would round it to 1, which only the same direction has.

    >>> rounded(0.5768), rounded(0.9981)
    ('0.58', '0.9981')
    """
    return number(cosine, 4 if abs(cosine) >= 0.995 else 2)


def usually(found: Usual, lang: str) -> Html:
    said = USUAL(lang, mean=number(found.mean), high=rounded(found.high))
    return Html(f'<p class="told">{esc(said)}</p>')


# Arithmetic


def three(state: EmbeddingsState) -> list[Reading]:
    return [read(state, key) for key in KEYS]


def arithmetic_flow(state: EmbeddingsState, lang: str) -> Flow:
    words = three(state)
    ids = tuple(word.ids for word in words)
    vector = vector_of(state.model, ids)
    near = ranked(state.model, ids, ())[0][: state.count]
    mine = {word.ids[0] for word in words if len(word.ids) == 1}
    shown = vector[None, state.column : state.column + SHOWN]

    def why(flow: Flow, m: Matrix, i: int, j: int) -> Explanation:
        a, b, c = (cell(flow.get("rows"), r, j) for r in range(3))
        return Explanation([a, "−", b, "+", c], a.value - b.value + c.value)

    made = Matrix(
        "made",
        "a − b + c",
        shown,
        rows=[3],
        headers=numbered(state.column, shown.size(1)),
        op=same("a − b + c"),
        why=why,
        digits=4,
        line="made = wte.weight[a] - wte.weight[b] + wte.weight[c]",
    )
    source = Vector(vector, "made", 0, state.column)
    matrices = [
        rows_matrix(list(ids), state, range(3)),
        made,
        beside(source, near, state, lang, list(range(3, 4 + len(near)))),
    ]
    marked = [bracketed(state.model, n.index, mine) for n in near]
    return Flow(matrices, {"names": [*(w.label for w in words), written(words), *marked]})


def bracketed(model: str, token: int, mine: set[int]) -> str:
    """A token's name; in brackets where it is one of the three words themselves."""
    name = name_of(model, token)
    return f"({name})" if token in mine else name


def written(words: list[Reading]) -> str:
    a, b, c = (word.label for word in words)
    return f"{a} − {b} + {c}"


def arithmetic_top(state: EmbeddingsState, lang: str) -> Html:
    words = three(state)
    near, found = ranked(state.model, tuple(word.ids for word in words), ())
    mine = {word.ids[0] for word in words if len(word.ids) == 1}
    best = near[0]
    other = next((n for n in near if n.index not in mine), best)
    said = (ONE_OF_THEM if best.index in mine else ANOTHER)(
        lang,
        sum=f"<b>{esc(written(words))}</b>",
        best=esc(name_of(state.model, best.index)),
        cosine=number(best.cosine),
        other=f"<b>{esc(name_of(state.model, other.index))}</b>",
        next=number(other.cosine),
    )
    notes = "".join(told(word, lang) for word in words if len(word.ids) > 1 or word.otherwise)
    return Html(f'<p class="sentence">{said}</p>{notes}{usually(found, lang)}')


ONE_OF_THEM = Words(
    "{sum} lies nearest to {best} ({cosine}), one of the three words it was made of. Of all others, {other} "
    "is nearest ({next}).",
    "{sum}에 가장 가까운 것은 계산에 쓴 세 단어 가운데 하나인 {best}입니다({cosine}). 나머지 가운데 가장 가까운 "
    "것은 {other}입니다({next}).",
)
ANOTHER = Words(
    "{sum} lies nearest to {other} ({next}), which is none of the three words.",
    "{sum}에 가장 가까운 것은 세 단어 밖에 있는 {other}입니다({next}).",
)


def refused(error: PlaygroundError, lang: str) -> Html:
    return Html(f'<p class="told" role="alert"><b>{esc(error.text(lang))}</b></p>')
