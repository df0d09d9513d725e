"""States of the GPT tab worth seeing, each with one thing to try."""

from __future__ import annotations

from dataclasses import dataclass

from lessons.words import Words, same
from playground.gpt.state import GptState


@dataclass(frozen=True)
class GptPreset:
    name: str
    title: Words
    try_this: Words
    state: GptState


def preset_state(preset: GptPreset) -> GptState:
    return preset.state.but(preset=preset.name)


def example(state: GptState) -> GptPreset:
    """The example that a state belongs to: its own while it fits the model, else one that does.

    A model without examples in the section keeps the one that was chosen.
    """
    own = [p for p in PRESETS if p.name == state.preset]
    here = [p for p in PRESETS if p.state.section == state.section]
    fits = [p for p in (*own, *here) if p.state.model == state.model]
    return (*fits, *own, *here, PRESETS[0])[0]


PRESETS = (
    GptPreset(
        "romeo",
        same("ROMEO:"),
        Words(
            "Write on, then choose any written token to see what else could have stood there. "
            "Take another one and let the model go on from it.",
            "이어 쓰게 한 다음, 쓰인 토큰을 하나 골라 그 자리에 올 수 있었던 다른 토큰을 보십시오. "
            "다른 것을 골라 거기서부터 다시 이어 쓰게 해 보십시오.",
        ),
        GptState(prompt="ROMEO:\n"),
    ),
    GptPreset(
        "korean",
        Words("A Korean question", "한국어로 묻기"),
        Words(
            "This model learned from questions and answers, one pair at a time; where its answer ends, it "
            "stops. Try a question of your own, on a line by itself. Another seed, another answer?",
            "질문과 답을 한 쌍씩 배운 모델입니다. 답이 끝나면 멈춥니다. 직접 질문을 한 줄로 적어 보십시오. 시드를 바꾸면 답도 달라집니까?",
        ),
        GptState(model="korean", prompt="오늘 날씨 좋다\n", count=24),
    ),
    GptPreset(
        "cold",
        Words("Temperature 0", "온도 0"),
        Words(
            "At temperature 0 the most probable token is always taken. Does the text repeat itself? "
            "Raise the temperature to 1, then to 2, and compare.",
            "온도 0에서는 언제나 가장 그럴듯한 토큰을 고릅니다. 같은 말이 되풀이됩니까? 온도를 1로, 다시 2로 올려 견주어 보십시오.",
        ),
        GptState(prompt="CAMILLO:\n", temperature=0.0, count=60),
    ),
    GptPreset(
        "heads",
        Words("Look at the heads", "헤드 들여다보기"),
        Words(
            "Find a head that mostly looks at the token before. Enlarge it, open one of its weights, then "
            "send it to the self-attention tab and break it there.",
            "바로 앞 토큰을 주로 보는 헤드를 찾아보십시오. 크게 펼쳐 가중치 하나를 열고, 셀프 어텐션 탭으로 보내 망가뜨려 보십시오.",
        ),
        GptState(
            model="shakespeare-64",
            prompt="O Romeo, Romeo! wherefore art thou Romeo?",
            section="heads",
        ),
    ),
    GptPreset(
        "without",
        Words("Leave a head out", "헤드 빼 보기"),
        Words(
            "Which single head matters most for the next token here? Guess, then look at the ranking; "
            "leave that head out and see what the model says instead.",
            "여기서 다음 토큰에 가장 중요한 헤드는 어느 것입니까? 먼저 짐작한 다음 순위를 보고, 그 헤드를 빼면 모델이 무엇이라고 하는지 보십시오.",
        ),
        GptState(
            model="shakespeare-64",
            prompt="O Romeo, Romeo! wherefore art thou",
            section="without",
        ),
    ),
    GptPreset(
        "tokens",
        Words("How text is cut", "글을 자르는 법"),
        Words(
            "Count the tokens of the same sentence under each tokenizer. Which one cuts Korean shortest, and "
            "why would GPT-2 need so many?",
            "같은 문장을 토크나이저마다 몇 개로 자르는지 세어 보십시오. 한국어를 가장 짧게 자르는 것은 어느 것이고, GPT-2는 왜 그렇게 많이 쓰겠습니까?",
        ),
        GptState(prompt="오늘은 학교에 간다. Today we go to school 🎒", section="tokens"),
    ),
)
