"""Which tokens of the chosen model a typed word is, and their vector."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from lessons.words import Words
from model.embeddings import middle
from model.errors import PlaygroundError
from playground import models
from playground.embeddings.state import MOST_WORD, EmbeddingsState
from playground.gpt.text import piece
from playground.html import Html, esc

MOST_PIECES = 12  # tokens of one word


class NoWordError(PlaygroundError):
    en = "There is no word to look up: {found} characters. Type one of up to {most}."
    ko = "찾을 단어가 없습니다. 글자 수가 {found}입니다. {most}자까지 입력하십시오."


class TooManyPiecesError(PlaygroundError):
    en = "“{word}” is {found} tokens for this model; at most {most} are put together here. Type a shorter word."
    ko = "이 모델에서 ‘{word}’의 토큰은 {found}개입니다. 여기서는 {most}개까지 합칩니다. 더 짧은 단어를 입력하십시오."


@dataclass(frozen=True)
class Reading:
    """A word as a model reads it: one token, or several whose mean stands for it."""

    text: str  # what was encoded
    ids: tuple[int, ...]
    model: str
    otherwise: bool  # with a blank although none was asked for, or the other way round

    @property
    def label(self) -> str:
        """How it is written in a table: ␣king."""
        return piece(self.text.encode())

    @property
    def pieces(self) -> list[str]:
        return [name_of(self.model, token) for token in self.ids]

    @property
    def rows(self) -> Tensor:
        """The rows of wte, `(tokens, C)` in float64."""
        return wte(self.model)[list(self.ids)].double()

    @property
    def vector(self) -> Tensor:
        """`(C,)`: the row of its token, or the mean of its tokens' rows."""
        return middle(wte(self.model), self.ids)


def wte(model: str) -> Tensor:
    return models.checkpoint(model).gpt.wte.weight.detach()


def wpe(model: str) -> Tensor:
    return models.checkpoint(model).gpt.wpe.weight.detach()


def name_of(model: str, token: int) -> str:
    return piece(models.tokenizer(model).token_bytes(token))


def read(state: EmbeddingsState, key: str = "word") -> Reading:
    """The word of that field. Where only one way to write it is a single token, that way.

    Raises `NoWordError` or `TooManyPiecesError`.
    """
    word = getattr(state, key).replace("␣", " ").strip()
    if not word:
        raise NoWordError(found=0, most=MOST_WORD)
    encode = models.tokenizer(state.model).encode
    forms = [f" {word}", word] if state.blank else [word, f" {word}"]
    ids = [encode(form) for form in forms]
    chosen = 1 if len(ids[0]) > 1 and len(ids[1]) == 1 else 0
    if len(ids[chosen]) > MOST_PIECES:
        raise TooManyPiecesError(word=word, found=len(ids[chosen]), most=MOST_PIECES)
    return Reading(forms[chosen], tuple(ids[chosen]), state.model, chosen == 1)


def told(reading: Reading, lang: str) -> Html:
    """What was looked up, where it is not simply the token that was typed."""
    name = f"<b>{esc(reading.label)}</b>"
    said = ONE(lang, name=name, id=reading.ids[0])
    if len(reading.ids) > 1:
        cut = " + ".join(esc(p) for p in reading.pieces)
        said = SEVERAL(lang, name=name, n=len(reading.ids), pieces=cut)
    elif reading.otherwise:
        said += " " + OTHERWISE(lang)
    return Html(f'<p class="told">{said}</p>')


ONE = Words(
    "{name} is token {id}: row {id} of wte.", "{name}: {id}번 토큰이고, wte의 {id}번 행입니다."
)
SEVERAL = Words(
    "{name} is no token of this model. It reads {n} tokens, {pieces}; here the mean of their rows stands "
    "for the word. The model itself never computes that mean.",
    "{name}: 이 모델에 없는 토큰입니다. 모델은 토큰 {n}개({pieces})로 읽습니다. 여기서는 그 행들의 평균을 단어 대신 씁니다. "
    "모델이 이 평균을 계산하는 일은 없습니다.",
)
OTHERWISE = Words(
    "Only written like this is it a single token.", "이렇게 적을 때만 토큰 하나가 됩니다."
)


def look(state: EmbeddingsState, action: dict) -> EmbeddingsState:
    """A neighbour becomes the word."""
    token = action["token"]
    written = models.tokenizer(state.model).token_bytes(token).decode("utf-8")
    after = state.but(word=written.strip(), blank=written.startswith(" "), open=None, pins=[])
    if read(after).ids != (token,):
        raise KeyError(token)
    return after


def typeable(model: str, token: int) -> bool:
    """Whether a person can type that token as a word."""
    try:
        written = models.tokenizer(model).token_bytes(token).decode("utf-8")
        found = read(EmbeddingsState(model=model, word=written, blank=written.startswith(" ")))
    except (UnicodeDecodeError, PlaygroundError):
        return False
    return found.ids == (token,) and written.isprintable()
