"""States of the Cost tab worth seeing, each with one thing to try."""

from __future__ import annotations

from lessons.words import Words
from playground.cost.state import CostState
from playground.form.form import Example

EXAMPLES = (
    Example(
        "measure",
        Words("Measure it", "직접 재기"),
        Words(
            "Guess first, then press Measure. On these axes the same distance is always the same factor, so what grows "
            "with T² climbs twice as steeply as what grows with T. Which curve of the memory is which?",
            "먼저 짐작한 다음 ‘재기’를 누르십시오. 두 축 모두 거리가 같으면 배수가 같습니다. 그래서 T²에 비례하는 선은 T에 비례하는 선보다 두 배 "
            "가파릅니다. 메모리 그림에서는 어느 선이 어느 쪽입니까?",
        ),
        CostState(),
    ),
    Example(
        "all-four",
        Words("All four routes", "네 가지 모두"),
        Words(
            "Measure with window and linear attention as well. From which length on is each faster than step by step? "
            "And than SDPA, which computes every pair?",
            "창과 선형 어텐션도 함께 재 보십시오. 길이가 얼마를 넘으면 한 단계씩 계산하는 것보다 빠릅니까? "
            "모든 쌍을 계산하는 SDPA보다는 언제부터 빠릅니까?",
        ),
        CostState(others=True),
    ),
    Example(
        "twice-the-length",
        Words("Twice the length", "길이를 두 배로"),
        Words(
            "“Twice the length, four times the work”, people say. Which rows become 4 times as large, and what does the "
            "whole block come to? Then make both lengths sixteen times as long, 8,192 and 16,384.",
            "‘길이가 두 배면 계산은 네 배’라고 합니다. 4배인 줄은 어느 것이고, 블록 전체는 몇 배입니까? "
            "이번에는 두 길이를 열여섯 배, 곧 8,192와 16,384로 바꿔 보십시오.",
        ),
        CostState(section="sizes", length=512, longer=1024, open=["times", 0, 7, 0]),
    ),
    Example(
        "sixteen-thousand",
        Words("16,384 tokens", "토큰 16,384개"),
        Words(
            "4, 64 and 1,024 MB for the scores of 1,024, 4,096 and 16,384 tokens: so say the notes that this course "
            "checks, and that is one head in one layer. How much is it in all of a model as large as GPT-2 small? "
            "Choose GPT-2 XL next, and compare its scores with its KV cache.",
            "이 과정에서 확인하는 노트에는 점수가 토큰 1,024개에서 4 MB, 4,096개에서 64 MB, 16,384개에서 1,024 MB라고 적혀 있습니다. "
            "한 층, 한 헤드의 값입니다. GPT-2 소형만 한 모델 전체로는 얼마입니까? 다음에는 GPT-2 초대형을 골라 점수와 KV 캐시를 견주어 보십시오.",
        ),
        CostState(section="sizes", length=16_384, longer=32_768, open=["score_bytes", 0, 2, 0]),
    ),
    Example(
        "window",
        Words("A window", "창으로 보기"),
        Words(
            "Each token sees itself and the one before it. Which output is moved the most? "
            "Widen the window until no output is moved: how wide must it be?",
            "토큰마다 자기 자신과 바로 앞 토큰만 봅니다. 출력이 가장 많이 바뀌는 토큰은 어느 것입니까? "
            "아무것도 바뀌지 않을 때까지 창을 넓혀 보십시오. 얼마나 넓어야 합니까?",
        ),
        CostState(section="cheaper", open=["weights_sparse", 0, 3, 2]),
    ),
    Example(
        "linear",
        Words("Linear attention", "선형 어텐션"),
        Words(
            "These vectors are long, and softmax gives nearly all weight to one token. Does linear attention? "
            "Open a number of its output: no score is in it, only two sums over all tokens.",
            "벡터가 길어서 소프트맥스는 거의 모든 가중치를 한 토큰에 줍니다. 선형 어텐션도 그렇습니까? "
            "선형 어텐션의 출력에서 숫자를 하나 열어 보십시오. 점수는 없고, 모든 토큰을 더한 합 두 개만 있습니다.",
        ),
        CostState(
            section="cheaper",
            tokens=["north", "east", "south", "west"],
            vectors=[[0.4, 3.0], [3.0, 0.2], [-0.2, -3.0], [-3.0, -0.4]],
            causal=False,
            open=["output_linear", 0, 0, 0],
        ),
    ),
)
