"""The examples of the Training tab. What they say of losses and answers holds on ten seeds, by test."""

from __future__ import annotations

from lessons.words import Words
from playground.form.form import Example
from playground.training.state import TrainingState

SENTENCES = Words(
    "The cat sat on the mat. The dog sat on the log. The bird sang in the tree. The fish swam in the sea.",
    "나는 학교에 간다. 너는 집에 간다. 우리는 함께 걷는다. 해가 뜨면 새가 운다. 비가 오면 꽃이 핀다.",
)

EXAMPLES = (
    Example(
        "copy",
        Words("Copy", "베끼기"),
        Words(
            "A model of 6,928 numbers sees six letters, a bar, and the letters again. Train it. For some fifty steps it "
            "learns little more than where the bar comes; then the loss falls at once, and all answers are right. It ends "
            "at the floor, not at 0: nobody can know the letters before the bar. Then look at the attention: which head "
            "looks six characters back?",
            "숫자 6,928개로 된 모델이 글자 여섯 개와 막대, 그리고 같은 글자를 다시 봅니다. 학습시켜 보십시오. 처음 50걸음쯤은 막대의 자리나 겨우 "
            "배우다가, 손실이 뚝 떨어지며 답을 모두 맞힙니다. 손실은 0이 아니라 바닥에서 멈춥니다. 막대 앞의 글자는 누구도 알 수 없기 때문입니다. "
            "그런 다음 어텐션을 보십시오. 어느 헤드가 여섯 글자 앞을 봅니까?",
        ),
        TrainingState(),
    ),
    Example(
        "reverse",
        Words("Reverse", "뒤집기"),
        Words(
            "Where must the model look to write the last letter first, and where for the next? Train it, and watch in the "
            "section on attention how a diagonal forms that runs the other way.",
            "마지막 글자를 맨 먼저 쓰려면 어디를 봐야 하고, 그다음에는 어디를 봐야 합니까? 학습시키면서 어텐션을 보십시오. 거꾸로 선 대각선이 "
            "나타납니다.",
        ),
        TrainingState(task="reverse"),
    ),
    Example(
        "no-mask",
        Words("No mask", "마스크 없이"),
        Words(
            "Which of the two will have the lower loss, and which the right answers? Without the mask each place sees the "
            "next letter, the very one it is asked for. The loss falls below what anyone could honestly have, and when "
            "the model has to write by itself it fails.",
            "둘 가운데 어느 쪽의 손실이 더 낮고, 어느 쪽이 정답을 맞힐까요? 마스크가 없으면 맞혀야 할 바로 다음 글자가 보입니다. 손실은 정직하게는 "
            "닿을 수 없는 값까지 떨어지지만, 막상 혼자 써야 할 때는 틀립니다.",
        ),
        TrainingState(task="sort", compare="mask"),
    ),
    Example(
        "no-positions",
        Words("No positions", "위치 없이"),
        Words(
            "Without positions the second run cannot tell the first letter from the sixth, but for what the mask gives "
            "away. Will it learn to reverse? Then choose “count on”: the next digit follows from the last one, wherever "
            "it stands.",
            "위치가 없으면 둘째 실행은 첫 글자와 여섯째 글자를 가려내지 못합니다. 코잘 마스크가 알려 주는 것이 조금 있을 뿐입니다. 뒤집기를 배울 수 "
            "있을까요? 그런 다음 ‘이어서 세기’를 골라 보십시오. 다음 숫자는 어디에 있든 바로 앞 숫자로 알 수 있습니다.",
        ),
        TrainingState(task="reverse", compare="positions"),
    ),
    Example(
        "one-head",
        Words("One head or four", "헤드 하나와 넷"),
        Words(
            "Are four heads better than one? Not here: to copy, one place to look at is enough, and a single head of 16 "
            "numbers finds it sooner than four of 4 numbers each. Both end at the floor. More heads help where several "
            "places have to be read at once.",
            "헤드는 하나보다 넷이 나을까요? 여기서는 아닙니다. 베낄 때는 한 곳만 보면 되고, 숫자 16개를 쓰는 헤드 하나가 4개씩 쓰는 헤드 넷보다 그곳을 "
            "먼저 찾습니다. 끝에는 둘 다 바닥에 닿습니다. 헤드가 여럿이면 여러 곳을 한꺼번에 읽어야 할 때 도움이 됩니다.",
        ),
        TrainingState(compare="one_head"),
    ),
    Example(
        "too-fast",
        Words("Learning rate too high", "너무 큰 학습률"),
        Words(
            "30 times the learning rate should be 30 times as quick? Each step of the second run is so long that it jumps "
            "over what it is looking for. It learns where the bar is, and no letter. Then set the learning rate itself to "
            "0.001 and to 0.02.",
            "학습률을 30배로 하면 30배 빨리 배울까요? 둘째 실행은 걸음이 너무 길어 찾던 자리를 뛰어넘습니다. 막대의 자리만 배우고 글자는 하나도 배우지 "
            "못합니다. 그런 다음 학습률을 0.001과 0.02로도 바꿔 보십시오.",
        ),
        TrainingState(compare="rate"),
    ),
    Example(
        "your-text",
        Words("Your own sentences", "나의 문장"),
        Words(
            "Paste a few sentences of your own, 20 to 2,000 characters. The questions are pieces of them, and the model is "
            "to go on. Before the first step it repeats a character, soon it strings common words together, and in the end "
            "it knows the text by heart. That is what a small text teaches: nothing that is not in it.",
            "직접 쓴 문장을 몇 개 붙여 넣으십시오. 20자부터 2,000자까지 됩니다. 문제는 그 글의 토막이고, 모델은 뒤를 이어 씁니다. 학습 전에는 같은 "
            "글자를 되풀이하고, 얼마 뒤에는 흔한 낱말을 늘어놓고, 끝에는 글을 외웁니다. 작은 글에서는 그 글에 있는 것만 배웁니다.",
        ),
        TrainingState(task="text", text=SENTENCES.en),
    ),
    Example(
        "korean-text",
        Words("A Korean text", "한글 문장"),
        Words(
            "The same with Korean: a syllable is one character here, so there are more different ones and fewer examples "
            "of each. Compare the chance line with that of English.",
            "한글로도 해 보십시오. 여기서는 음절 하나가 글자 하나이므로 서로 다른 글자가 더 많고, 글자마다 예는 더 적습니다. 찍을 때의 손실을 영어 글과 "
            "견주어 보십시오.",
        ),
        TrainingState(task="text", text=SENTENCES.ko),
    ),
    Example(
        "one-step",
        Words("One step opened", "한 걸음 열어 보기"),
        Words(
            "The new value is opened: read the sum from left to right and find each number in the tables. In the first "
            "step Adam moves every weight by almost exactly the learning rate, up or down: why? Then take a step, or "
            "choose another weight by a click.",
            "새 값이 열려 있습니다. 식을 왼쪽부터 읽으며 숫자를 표에서 하나씩 찾아보십시오. 첫 걸음에서 Adam은 어느 가중치든 거의 꼭 학습률만큼 올리거나 "
            "내립니다. 왜 그럴까요? 그런 다음 한 걸음 더 가거나, 다른 가중치를 눌러 골라 보십시오.",
        ),
        TrainingState(
            section="weight", weight="blocks.0.attn.c_attn.weight", open=["after", 0, 0, 4]
        ),
    ),
)
