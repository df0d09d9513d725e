"""Experiment 9: change n_head. Change the numbers below and run it again.
실험 9: n_head 바꾸기. 아래 숫자를 바꾸어 다시 실행해 보십시오.
"""

import sys

import torch

from lessons.words import Words
from model import GPT, GPTConfig
from model.gpt import next_token_loss

HEADS = (1, 2, 4, 8, 16, 32)  # each must divide WIDTH · 모두 WIDTH의 약수여야 합니다
WIDTH = 32  # n_embd
BACK = (1, 3, 5, 7)  # the places to look at, counted backwards · 보아야 할 자리(뒤에서부터)
KINDS = 3  # how many tokens there are · 토큰의 종류
LENGTH = 20  # tokens in a sequence · 한 수열의 토큰 수
STEPS = 300  # of training · 학습 단계

ROW = Words(
    "n_head {heads:>2}, head_size {size:>2}, {count:,} parameters: loss {loss:.3f}, right {right:.1%}",
    "n_head {heads:>2}, head_size {size:>2}, 매개변수 {count:,}개: 손실 {loss:.3f}, 정답률 {right:.1%}",
)


def batch(n: int, generator: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
    """Random tokens (n, T) and, for each place, which tokens stood at BACK before it, as one number.

    Places with nothing that far back are not counted (-100).
    """
    tokens = torch.randint(KINDS, (n, LENGTH), generator=generator)
    targets = torch.full((n, LENGTH), -100)
    seen = [tokens[:, max(BACK) - back : LENGTH - back] for back in BACK]
    targets[:, max(BACK) :] = sum(KINDS**i * token for i, token in enumerate(seen))
    return tokens, targets


def trained(n_head: int) -> GPT:
    """A GPT of one layer after STEPS steps. To answer, it has to look at all the places at once."""
    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(1)
    gpt = GPT(GPTConfig(KINDS ** len(BACK), LENGTH, n_layer=1, n_head=n_head, n_embd=WIDTH))
    optimizer = torch.optim.AdamW(gpt.parameters(), lr=5e-3)
    for _ in range(STEPS):
        idx, targets = batch(32, generator)
        loss = next_token_loss(gpt(idx), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return gpt


if __name__ == "__main__":
    lang = sys.argv[1] if len(sys.argv) > 1 else "en"
    idx, targets = batch(256, torch.Generator().manual_seed(2))  # not trained on
    for n_head in HEADS:
        gpt = trained(n_head)
        with torch.no_grad():
            logits = gpt(idx)
        right = (logits.argmax(-1) == targets)[targets != -100].float().mean().item()
        loss = next_token_loss(logits, targets).item()
        size, count = WIDTH // n_head, gpt.n_parameters
        print(ROW(lang, heads=n_head, size=size, count=count, loss=loss, right=right), flush=True)
