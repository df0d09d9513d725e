"""Encoder and decoder: the "+2" of the notes (document 3), as printed and mended, trained live."""

from __future__ import annotations

from lessons.words import Words
from model.plus_two import RECIPES
from playground.encoder_decoder import attention, places, training
from playground.encoder_decoder.runs import more, once, settle
from playground.encoder_decoder.state import FIELDS, EncoderDecoderState, changed, section_of
from playground.flow import Flow
from playground.form.form import Example, Form, Group
from playground.form.panel import FormPanel
from playground.form.runs import begin
from playground.form.view import MARKS
from playground.html import Html

SECTIONS = {
    "training": Words("training and answers", "학습과 답"),
    "attention": Words("attention", "어텐션"),
    "positions": Words("positions", "위치"),
}
SHOWN = {"training": training, "attention": attention, "positions": places}


def flow(state: EncoderDecoderState, lang: str) -> Flow:
    return SHOWN[section_of(state)].flow(state, lang)


def top(state: EncoderDecoderState, lang: str) -> Html:
    return SHOWN[section_of(state)].top(state, lang)


def in_(*sections: str):
    return lambda state: section_of(state) in sections


def mended(seed: int, **settings: object) -> EncoderDecoderState:
    """The mended recipe at its own rate."""
    rate = RECIPES["mended"].learning_rate
    return EncoderDecoderState(recipe="mended", rate=rate, seed=seed, **settings)


EXAMPLES = (
    Example(
        "as-printed",
        Words("As printed", "노트에 적힌 그대로"),
        Words(
            "Press the button: one sequence over and over, 501 times, as the notes print it. The loss falls from about "
            "1,200 to about 300. Is that good? Always answering 32 would cost 200. Then type 50, 40, 30, 20, 10 into src: "
            "what should come out, and what does? Go on to step 800, and the first three answers come near 12, 22 and 32. "
            "Running free, the model recites them for your numbers too: nothing ever taught it to look at src.",
            "단추를 눌러 노트에 적힌 대로 수열 하나를 501번 되풀이해 학습하십시오. 손실이 1,200쯤에서 300쯤으로 줄어듭니다. 잘된 것일까요? 늘 "
            "32라고만 답해도 손실은 200입니다. 이번에는 src를 50, 40, 30, 20, 10으로 고쳐 보십시오. 무엇이 나와야 하고, 실제로는 무엇이 나옵니까? "
            "800걸음까지 이어서 학습하면 앞의 세 답이 12, 22, 32에 가까워집니다. 그래도 자유 실행에서는 고친 수열에도 그 답을 외워 말합니다. "
            "입력을 볼 까닭을 배운 적이 없기 때문입니다.",
        ),
        EncoderDecoderState(),
    ),
    Example(
        "mended",
        Words("Mended", "고친 방법"),
        Words(
            "Three things are changed: every step learns from 16 new sequences, the numbers are divided by 50, and there "
            "is no dropout (the learning rate is doubled as well). Train it, then type 50, 40, 30, 20, 10 into src. With "
            "the right answers handed in, it now comes near + 2, because it had to read src to do well; running free, it "
            "drifts off. Then try numbers that are not evenly spaced, or very large: it never saw such.",
            "세 가지를 고쳤습니다. 걸음마다 새 수열 16개로 배우고, 수를 50으로 나누고, 드롭아웃을 뺐습니다(학습률도 두 배입니다). 학습한 뒤 "
            "src에 50, 40, 30, 20, 10을 넣어 보십시오. 교사 강요에서는 이제 +2에 가까운 답이 나옵니다. src를 읽어야만 잘할 수 있었기 "
            "때문입니다. 자유 실행에서는 점점 벗어납니다. 이번에는 간격이 고르지 않은 수나 아주 큰 수를 넣어 보십시오. 그런 것은 본 적이 없습니다.",
        ),
        mended(4),
    ),
    Example(
        "free-running",
        Words("Free running", "자유 실행"),
        Words(
            "It trains by itself to step 400 and pauses, half ready. Compare the two lines of answers. With the right "
            "answers handed in, every place starts afresh. Running free, the model reads its own slips, and they "
            "add up. The first answers are equal: why? Then go on to step 800: both errors shrink.",
            "400걸음까지 저절로 학습하고 멈춥니다. 아직 덜 배웠습니다. 두 줄의 답을 견주어 보십시오. 정답을 넣어 주면 자리마다 새로 시작하지만, "
            "자유 실행에서는 자기가 틀린 값을 읽으므로 오차가 쌓입니다. 첫째 답은 둘이 같습니다. 왜 그럴까요? 800걸음까지 이어서 학습하면 두 오차가 "
            "모두 줄어듭니다.",
        ),
        mended(5, left=400, running=True),
    ),
    Example(
        "cross",
        Words("Where does it look?", "어디를 볼까?"),
        Words(
            "The third answer needs the third number of src. So will the third row of some cross-attention look at the "
            "third column, and so on down a diagonal? Choose the pictures of the last row one by one: no head does. The "
            "sequences are evenly spaced, so two numbers of src, or the answers so far, tell all the others.",
            "셋째 답에는 src의 셋째 수가 필요합니다. 그러면 교차 어텐션의 어느 헤드에서는 셋째 행이 셋째 열을 보고, 그렇게 대각선이 나타날까요? "
            "마지막 줄의 그림을 하나씩 골라 보십시오. 그런 헤드는 없습니다. 간격이 고른 수열이라 src의 두 수나 앞서 낸 답만 알아도 나머지를 알 수 있기 "
            "때문입니다.",
        ),
        mended(4, section="attention", left=400, running=True, open=["weights", 0, 2, 2]),
    ),
    Example(
        "positions",
        Words("Positions", "위치"),
        Words(
            "Attention alone would not know which number comes first: these rows of sines and cosines are added to tell. "
            "Open a number of P, then one of P Pᵀ. Along each diagonal of P Pᵀ the number is the same: the dot product "
            "depends on the distance alone. Then look at x, number and position together. The numbers of the notes are not "
            "scaled, and P drowns in them. Choose the mended recipe: now both can be heard.",
            "어텐션만으로는 어느 수가 먼저인지 알 수 없습니다. 그래서 사인과 코사인으로 된 이 행을 더해 자리를 알립니다. P의 숫자를 열고, P Pᵀ의 숫자도 "
            "열어 보십시오. P Pᵀ의 대각선을 따라가면 같은 수만 나옵니다. 점곱이 거리에만 달려 있기 때문입니다. 이번에는 수와 위치를 더한 x를 보십시오. "
            "노트의 수는 나누지 않아서 P가 그 속에 묻힙니다. 고친 방법을 고르면 위치도 드러납니다.",
        ),
        EncoderDecoderState(section="positions", open=["table", 0, 3, 2]),
    ),
)

TAB = FormPanel(
    Form(
        name="encoder-decoder",
        order=9,
        title=Words("Encoder–decoder", "인코더-디코더"),
        heading=Words("Encoder and decoder", "인코더와 디코더"),
        intro=Words(
            "One stack reads, another writes. The <b>encoder</b> reads the source <b>src</b> and leaves the <b>memory</b>; "
            "the <b>decoder</b> reads the target so far, <b>tgt</b>, and looks into the memory by <b>cross-attention</b>. "
            "The task is from the notes that this course checks: add 2 to each of five numbers.",
            "한쪽은 읽고 한쪽은 씁니다. <b>인코더</b>는 입력 <b>src</b>를 읽어 <b>메모리</b>를 남깁니다. <b>디코더</b>는 지금까지의 출력 "
            "<b>tgt</b>를 읽고, <b>교차 어텐션</b>으로 메모리를 들여다봅니다. 과제는 이 과정에서 확인하는 노트에 나온 것으로, 다섯 수에 "
            "각각 2를 더하는 일입니다.",
        ),
        formula=Html(
            "<span>memory = encoder(src)</span> <span>answers = decoder(tgt, memory)</span> "
            "<span>cross = softmax(Q<sub>tgt</sub> K<sub>memory</sub>ᵀ / √d) V<sub>memory</sub></span>"
        ),
        examples=EXAMPLES,
        state=EncoderDecoderState,
        fields=FIELDS,
        flow=flow,
        top=top,
        groups_above=(
            Group(
                Words("Training", "학습"),
                ("recipe", "seed", "rate"),
            ),
            Group(Words("Answers", "답"), ("fed",), in_("attention")),
            Group(Words("Two positions", "두 위치"), ("first", "second"), in_("positions")),
        ),
        sections=SECTIONS,
        actions={"once": once, "begin": begin, "enlarge": attention.enlarge},
        changed=changed,
        settle=settle,
        more=more,
        legend=(
            MARKS["weight"],
            MARKS["signed"],
            MARKS["masked"],
            MARKS["opened"],
            MARKS["sources"],
        ),
    )
)
