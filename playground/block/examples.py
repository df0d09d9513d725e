"""States of the Block tab worth seeing, each with one thing to try.

What is said to be seen is held by tests, on ten seeds where a seed is in it.
"""

from __future__ import annotations

from lessons.words import Words
from playground.block.state import BlockState
from playground.form.form import Example

EXAMPLES = (
    Example(
        "vectors",
        Words("Your vectors", "직접 쓴 벡터"),
        Words(
            "Row b is ten times row a, and its variance, opened below, a hundred times a's. Yet normed_1, which attention "
            "reads, shows the same row twice, so attention finds the same for both; the stream itself keeps their lengths, "
            "10.95 and 109.54. Then set LayerNorm to “off” and look at row c of both heads' weights: whom does each listen "
            "to now? Last, switch the residual connection off: how long is b's vector at the end?",
            "b 행은 a 행의 열 배이고, 아래에 열려 있는 b의 분산은 a의 백 배입니다. 그런데도 어텐션이 읽는 normed_1에는 같은 행이 두 번 나오고, "
            "어텐션이 찾은 것도 둘이 같습니다. 흐름 자체는 10.95와 109.54라는 길이를 그대로 지닙니다. 이제 층 정규화를 ‘끄기’로 바꾸고 두 헤드의 "
            "가중치에서 c 행을 보십시오. 헤드마다 누구의 말을 듣게 됩니까? 끝으로 잔차 연결도 끄십시오. b의 벡터는 마지막에 얼마나 깁니까?",
        ),
        BlockState(open=["before_1", 0, 1, 1]),
    ),
    Example(
        "trained",
        Words("A trained block", "학습한 블록"),
        Words(
            "Layer 1 makes the vector of the last “be” more than four times as long, and most of it comes from the MLP. Go "
            "up to layer 3: there attention makes it a little shorter. A trained LayerNorm does not leave the variance at 1: "
            "each column is also multiplied by a learned number γ. Open a number of normed_1 and find it.",
            "1층은 마지막 be의 벡터를 네 배 넘게 늘이는데, 대부분 MLP가 더한 것입니다. 3층으로 가 보십시오. 거기서는 어텐션이 벡터를 조금 "
            "줄입니다. 학습한 층 정규화를 지나면 분산이 1이 아닙니다. 열마다 학습한 수 γ도 곱하기 때문입니다. normed_1의 숫자를 열어 γ를 "
            "찾아보십시오.",
        ),
        BlockState(source="trained", prompt="To be, or not to be", open=["norms", 0, 0, 2]),
    ),
    Example(
        "no-residual",
        Words("No residual", "잔차 연결 없이"),
        Words(
            "Without the residual connection all eight tokens point the same way after a few blocks: their cosine is 1.00, and "
            "nothing above can tell them apart. LayerNorm still hands down a part of the gradient. Without both, hardly anything "
            "reaches the bottom. Take blocks away: does one block let even a tenth through?",
            "잔차 연결이 없으면 블록 몇 개만 지나도 토큰 여덟 개가 모두 같은 쪽을 가리킵니다. 코사인이 1.00이므로 그 위에서는 아무도 토큰을 "
            "구별할 수 없습니다. 그래도 층 정규화가 있으면 기울기의 일부가 내려옵니다. 둘 다 없으면 맨 아래에 닿는 것이 거의 없습니다. 블록 수를 "
            "줄여 보십시오. 블록 하나가 기울기를 10분의 1이나 통과시킵니까?",
        ),
        BlockState(section="stack", no_residual=True, neither=True, open=["gradient", 0, 2, 0]),
    ),
    Example(
        "no-norm",
        Words("No LayerNorm", "층 정규화 없이"),
        Words(
            "These weights are twice as large as PyTorch draws them. Without LayerNorm the stream and the gradient grow more than "
            "5,000-fold in twelve blocks, with it less than tenfold. Set the weights back to × 1: the difference is almost "
            "gone. Fresh weights alone do not show what LayerNorm is for; learned ones may grow.",
            "여기서는 가중치가 PyTorch로 뽑을 때의 두 배입니다. 층 정규화가 없으면 블록 열두 개를 지나는 동안 흐름도 기울기도 5,000배 넘게 커지고, 있으면 열 "
            "배도 되지 않습니다. 가중치를 × 1로 되돌리면 차이가 거의 사라집니다. 갓 뽑은 가중치만 보아서는 층 정규화가 왜 있는지 알 수 없습니다. "
            "가중치는 학습하면서 커질 수 있습니다.",
        ),
        BlockState(section="stack", none=True, gain="2", open=["stream", 0, 1, 12]),
    ),
    Example(
        "post-norm",
        Words("Post-norm, as in 2017", "2017년의 뒤 정규화"),
        Words(
            "After every post-norm block each vector is √64 = 8 long, whatever the weights. But its LayerNorm shrinks what "
            "comes from below together with what is new: the tokens become more alike than in pre-norm, and less gradient "
            "arrives at the bottom. Do you see the same with weights × 1?",
            "뒤 정규화 블록을 지난 벡터의 길이는 가중치와 상관없이 모두 √64 = 8입니다. 그 대신 층 정규화가 새로 더한 것뿐 아니라 아래에서 온 "
            "것까지 함께 줄입니다. 그래서 앞 정규화보다 토큰들이 더 닮아 가고, 맨 아래에 닿는 기울기도 더 작습니다. 가중치 × 1에서도 그렇습니까?",
        ),
        BlockState(section="stack", post=True, gain="2", open=["alike", 0, 1, 12]),
    ),
    Example(
        "twelve",
        Words("Twelve bricks", "벽돌 열두 개"),
        Words(
            "Guess first: which of the five loses its gradient? Then move the number of blocks from 1 to 12. With a residual "
            "connection the gradient at the bottom stays between 0.5 and 3. Without it the tokens become alike. Only "
            "without both is the gradient lost altogether.",
            "먼저 맞혀 보십시오. 다섯 가지 중에서 기울기를 잃는 것은 무엇입니까? 그런 다음 블록 수를 1에서 12까지 움직여 보십시오. 잔차 연결이 "
            "있으면 맨 아래의 기울기가 0.5와 3 사이에 머뭅니다. 잔차 연결이 없으면 토큰들이 서로 닮아 갑니다. 기울기를 통째로 잃는 것은 둘 다 "
            "없을 때뿐입니다.",
        ),
        BlockState(
            section="stack",
            post=True,
            none=True,
            no_residual=True,
            neither=True,
            open=["stream", 0, 0, 12],
        ),
    ),
)
