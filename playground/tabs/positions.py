"""Embeddings and positions: the two tables that turn tokens and places into vectors."""

from __future__ import annotations

from lessons.words import Words
from model.errors import PlaygroundError
from playground.embeddings import added, neighbours, positions
from playground.embeddings.state import FIELDS, EmbeddingsState, is_learned, section_of, settle
from playground.embeddings.words import look
from playground.flow import Flow
from playground.form.form import Example, Form, Group
from playground.form.panel import FormPanel
from playground.form.view import MARKS
from playground.html import Html

SECTIONS = {
    "positions": Words("positions", "위치"),
    "neighbours": Words("neighbours", "이웃"),
    "arithmetic": Words("arithmetic", "덧셈과 뺄셈"),
    "sum": Words("token + position", "토큰 + 위치"),
}
FLOWS = {
    "positions": positions.flow,
    "neighbours": neighbours.flow,
    "arithmetic": neighbours.arithmetic_flow,
    "sum": added.flow,
}
TOPS = {
    "positions": positions.top,
    "neighbours": neighbours.top,
    "arithmetic": neighbours.arithmetic_top,
    "sum": added.top,
}


def flow(state: EmbeddingsState, lang: str) -> Flow:
    """The matrices of the section; none while a word cannot be looked up."""
    try:
        return FLOWS[section_of(state)](state, lang)
    except PlaygroundError:
        return Flow([])


def top(state: EmbeddingsState, lang: str) -> Html:
    try:
        return TOPS[section_of(state)](state, lang)
    except PlaygroundError as error:
        return neighbours.refused(error, lang)


def in_(*sections: str):
    return lambda state: section_of(state) in sections


EXAMPLES = (
    Example(
        "sinusoidal",
        Words("Sine and cosine", "사인과 코사인"),
        Words(
            "Move both positions equally far, to 25 and 29, say: does their dot product change? Then set the "
            "number of columns (below) to 2: one sine and one cosine are left, and the curve is a cosine. There, "
            "positions 44 apart are as good as equal; with 16 columns they are not.",
            "두 위치를 똑같이 옮겨 25와 29로 해 보십시오. 점곱이 달라집니까? 그런 다음 아래에서 열의 수를 2로 바꾸면 사인과 코사인 한 쌍만 남아 곡선이 코사인이 됩니다. "
            "그때는 44칸 떨어진 두 위치가 거의 같아지지만, 열이 16개이면 그렇지 않습니다.",
        ),
        EmbeddingsState(open=["rows", 0, 0, 2]),
    ),
    Example(
        "learned",
        Words("Learned positions", "학습한 위치"),
        Words(
            "Nobody told this model that position 6 comes after 5. Yet neighbouring positions point almost "
            "the same way (on average their cosine is 0.99), and positions 100 apart rather opposite ways (−0.56). Does "
            "the distance alone decide, as with the sines? Compare the model “korean”, which learned from short texts.",
            "6이 5 다음이라는 것을 아무도 이 모델에 알려 주지 않았습니다. 그런데도 이웃한 위치는 거의 같은 쪽을(코사인 유사도 평균 0.99), 100칸 떨어진 위치는 반대쪽에 "
            "가까운 쪽을(−0.56) 가리킵니다. 사인 표에서처럼 거리만으로 정해집니까? 짧은 글로 배운 korean 모델과도 견주어 보십시오.",
        ),
        EmbeddingsState(
            table="learned",
            model="shakespeare-64",
            measure="cosines",
            open=["pair", 0, 1, 2],
        ),
    ),
    Example(
        "king",
        Words("Near “king”", "king의 이웃"),
        Words(
            "Open the cosine of ␣queen: a dot product over two lengths. Then look up “day”. What would you "
            "expect next to it? Near means “used in the same places”, not “means the same”.",
            "␣queen의 코사인 유사도를 열어 보십시오. 점곱을 두 길이로 나눈 값입니다. 그런 다음 day를 찾아보십시오. 가장 가까운 단어는 무엇일까요? 가깝다는 것은 뜻이 "
            "같다는 말이 아니라 ‘같은 자리에 쓰인다’는 말입니다.",
        ),
        EmbeddingsState(section="neighbours", open=["neighbours", 0, 1, 2]),
    ),
    Example(
        "korean",
        Words("A Korean word", "한국어 단어"),
        Words(
            "The word for “woman” in the Korean model: its nearest is “man”, far ahead of the rest, because "
            "both stand in the same places. Some of the others are no letters at all but bytes: pieces of a "
            "syllable.",
            "‘여자’에 가장 가까운 것은 ‘남자’이고, 그다음과 차이가 큽니다. 둘이 같은 자리에 쓰이기 때문입니다. 글자가 아니라 바이트로 보이는 것은 음절의 조각입니다. 이번에는 "
            "‘사랑’을 넣고, 앞의 빈칸을 켠 것과 끈 것을 견주어 보십시오.",
        ),
        EmbeddingsState(
            section="neighbours", model="korean", word="여자", open=["neighbours", 0, 1, 2]
        ),
    ),
    Example(
        "pieces",
        Words("A word in pieces", "조각난 단어"),
        Words(
            "This model has no token for “Romeo”. The mean of its pieces lies near those pieces and hardly "
            "near anything else: what the word means is put together by the blocks above, not in this table. "
            "Try your own name.",
            "이 모델에는 Romeo라는 토큰이 없습니다. 조각들의 평균은 그 조각들에 가깝고, 다른 것과는 거의 가깝지 않습니다. 단어의 뜻은 이 표가 아니라 위쪽 블록들에서 "
            "만들어집니다. 자기 이름도 넣어 보십시오.",
        ),
        EmbeddingsState(section="neighbours", word="Romeo", open=["mean", 0, 0, 0]),
    ),
    Example(
        "unseen",
        Words("Never read", "읽은 적 없는 글자"),
        Words(
            "A Korean word for a model that read only Shakespeare: it is cut into bytes that never came up in training. "
            "Their rows are all but the same vector: training only ever pushed them all the same way, out of its predictions.",
            "셰익스피어만 읽은 모델에 한국어 단어를 넣은 예입니다. 단어는 바이트로 잘리고, 그 바이트들은 학습에 나온 적이 없습니다. 그 행들은 "
            "거의 같은 벡터입니다. 학습이 이들을 예측에서 밀어내며 모두 한쪽으로만 보냈기 때문입니다.",
        ),
        EmbeddingsState(
            section="neighbours", word="사랑", blank=False, open=["neighbours", 0, 1, 2]
        ),
    ),
    Example(
        "queen",
        Words("king − man + wife", "king − man + wife는?"),
        Words(
            "The famous sum, in a small model: the nearest are two of the words themselves (in brackets), "
            "then ␣queen. Is that thanks to the sum? Look at the neighbours of “king” alone: ␣queen lies "
            "nearer to it than to the sum.",
            "유명한 계산을 작은 모델에서 해 봅니다. 가장 가까운 것은 계산에 쓴 단어(괄호 안) 둘이고, 그다음이 ␣queen입니다. 계산 덕분일까요? ‘이웃’에서 king만 "
            "찾아보십시오. ␣queen은 계산 결과보다 king 자체에 더 가깝습니다.",
        ),
        EmbeddingsState(section="arithmetic", open=["made", 0, 0, 0]),
    ),
    Example(
        "her",
        Words("him − he + she", "him − he + she는?"),
        Words(
            "Here the sum finds a word that is none of the three, ahead of them all. Try thy − thou + you, "
            "which works as well, and day − good + night: there two of its own words come first, far ahead of the rest.",
            "이번에는 계산 결과가 세 단어 밖의 단어에 가장 가깝습니다. thy − thou + you도 그렇습니다. day − good + night는 어떻습니까? 계산에 쓴 단어 둘이 "
            "먼저 나오고, 그다음과 차이가 큽니다.",
        ),
        EmbeddingsState(
            section="arithmetic", word="him", minus="he", plus="she", open=["neighbours", 0, 1, 2]
        ),
    ),
    Example(
        "sum",
        Words("What a block reads", "블록이 읽는 것"),
        Words(
            "Open a number of x: that is all that happens. Then move the word to position 0. Which of the "
            "two rows is longer there, the token’s or the position’s?",
            "x의 숫자를 하나 열어 보십시오. 더하기 한 번이 전부입니다. 그런 다음 단어를 위치 0으로 옮기십시오. 거기서는 토큰의 행과 위치의 행 가운데 어느 쪽이 더 깁니까?",
        ),
        EmbeddingsState(section="sum", model="shakespeare-64", open=["sum", 0, 0, 0]),
    ),
)

TAB = FormPanel(
    Form(
        name="positions",
        order=7,
        title=Words("Embeddings and positions", "임베딩과 위치"),
        heading=Words("Embeddings and positions", "임베딩과 위치"),
        intro=Words(
            "A model knows words by their numbers alone. <b>wte</b> has a row for each token, <b>wpe</b> one "
            "for each position; the first block reads the sum of two rows. Two rows are compared by their "
            "<b>dot product</b>, or by its <b>cosine</b>, the same without the lengths: 1 for the same "
            "direction, 0 for none in common, −1 for the opposite.",
            "모델은 단어를 숫자로만 압니다. <b>wte</b>에는 토큰마다, <b>wpe</b>에는 위치마다 행이 하나씩 있고, 첫 블록은 두 행의 합을 읽습니다. 두 행은 "
            "<b>점곱</b>으로, 또는 거기서 길이의 영향을 뺀 <b>코사인 유사도</b>로 견줍니다. 같은 방향이면 1, 관계없는 방향이면 0, 반대 방향이면 −1입니다.",
        ),
        formula=Html(
            "<span>x = wte[token] + wpe[position]</span> <span>cos(p, q) = p · q / (|p| |q|)</span>"
        ),
        examples=EXAMPLES,
        state=EmbeddingsState,
        fields=FIELDS,
        flow=flow,
        top=top,
        groups_above=(
            Group(Words("Model", "모델"), ("model",), is_learned),
            Group(Words("Word", "단어"), ("word", "blank"), in_("neighbours", "sum")),
            Group(
                Words("word − minus + plus", "단어 − 빼기 + 더하기"),
                ("word", "minus", "plus", "blank"),
                in_("arithmetic"),
            ),
            Group(Words("Table of positions", "위치의 표"), ("table",), in_("positions")),
            Group(
                Words("Two positions", "두 위치"), ("first", "second", "measure"), in_("positions")
            ),
            Group(Words("Place in the text", "글에서의 위치"), ("position",), in_("sum")),
        ),
        groups=(
            Group(Words("Shown", "보이는 범위"), ("column",)),
            Group(Words("How many", "개수"), ("count",), in_("neighbours", "arithmetic")),
            Group(
                Words("Sine and cosine", "사인과 코사인"), ("width",), lambda s: not is_learned(s)
            ),
        ),
        sections=SECTIONS,
        actions={"look": look},
        settle=settle,
        legend=(MARKS["signed"], MARKS["opened"], MARKS["sources"]),
    )
)
