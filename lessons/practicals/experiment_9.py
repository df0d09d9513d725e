"""Experiment 9: change n_head. Change the numbers below and run it again.
실험 9: n_head 바꾸기. 아래 숫자를 바꾸어 다시 실행해 보십시오.
"""

import sys
import time

import torch

from lessons.words import Words
from model import GPT, GPTConfig
from model.gpt import next_token_loss

HEADS = (1, 2, 4, 8)  # each must divide WIDTH · 모두 WIDTH의 약수여야 합니다
WIDTH = 32  # n_embd
BACK = (2, 5, 9)  # which earlier tokens make the next one · 다음 토큰을 정하는 앞 토큰의 자리
KINDS = 8
LENGTH = 32
STEPS = 300

ROW = Words(
    "n_head {heads}, head_size {size:>2}: {count:,} parameters, loss {loss:.3f}, right {right:5.1%}, {seconds:.1f} s",
    "n_head {heads}, head_size {size:>2}: 매개변수 {count:,}개, 손실 {loss:.3f}, 정답률 {right:5.1%}, {seconds:.1f}초",
)


def sequences(n: int, generator: torch.Generator) -> torch.Tensor:
    """Each token is the sum of those at BACK before it, modulo KINDS; the first are random."""
    start = max(BACK)
    tokens = torch.randint(KINDS, (n, start), generator=generator)
    while tokens.size(1) < LENGTH + 1:
        # the nearer ones count more often, so that they cannot be mixed up
        new = sum((i + 1) * tokens[:, -back] for i, back in enumerate(BACK)) % KINDS
        tokens = torch.cat([tokens, new.unsqueeze(1)], dim=1)
    return tokens


def trained(n_head: int) -> GPT:
    """A small GPT after STEPS steps on such sequences."""
    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(1)
    gpt = GPT(GPTConfig(KINDS, LENGTH, n_layer=1, n_head=n_head, n_embd=WIDTH))
    optimizer = torch.optim.AdamW(gpt.parameters(), lr=5e-3)
    for _ in range(STEPS):
        tokens = sequences(32, generator)
        loss = next_token_loss(gpt(tokens[:, :-1]), tokens[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return gpt


if __name__ == "__main__":
    lang = sys.argv[1] if len(sys.argv) > 1 else "en"
    fresh = sequences(256, torch.Generator().manual_seed(2))
    idx, targets = fresh[:, :-1], fresh[:, 1:].clone()
    targets[:, : max(BACK) - 1] = -100  # the random ones are not counted
    for n_head in HEADS:
        began = time.perf_counter()
        gpt = trained(n_head)
        seconds = time.perf_counter() - began
        with torch.no_grad():
            logits = gpt(idx)
        counted = targets != -100
        right = (logits.argmax(-1) == targets)[counted].float().mean().item()
        print(ROW(lang, heads=n_head, size=WIDTH // n_head, count=gpt.n_parameters,
                  loss=next_token_loss(logits, targets).item(), right=right, seconds=seconds))  # fmt: skip
