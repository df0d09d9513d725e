"""Experiment 7: take the causal mask away. Change the numbers below and run it again.
실험 7: 코잘 마스크 없애기. 아래 숫자를 바꾸어 다시 실행해 보십시오.
"""

import math
import sys

import torch

from lessons.words import Words
from model import GPT, GPTConfig
from model.gpt import next_token_loss

KINDS = 10  # how many tokens there are · 토큰의 종류
LENGTH = 16  # tokens in a sequence · 한 수열의 토큰 수
STEPS = 200  # of training · 학습 단계

LAST = Words("the last loss", "마지막 손실")
CHANCE = Words(
    "Guessing at random costs ln {n} = {chance:.3f}; no honest model can do better here.",
    "무작위로 찍을 때의 손실은 ln {n} = {chance:.3f}입니다. 여기서 정직한 모델은 이보다 잘할 수 없습니다.",
)
WITH = Words("with the mask", "마스크 있음")
WITHOUT = Words("without it", "마스크 없음")


def logits_of(gpt: GPT, idx: torch.Tensor, causal: bool) -> torch.Tensor:
    """`GPT.forward` written out, with or without the mask: (B, T) -> (B, T, V)."""
    x = gpt.wte(idx) + gpt.wpe.weight[: idx.size(1)]  # (B, T, C)
    for block in gpt.blocks:
        x = block(x, causal=causal)
    return gpt.lm_head(gpt.ln_f(x))


def losses(causal: bool) -> list[float]:
    """Train on random tokens, new ones each step: there is nothing to learn, only to copy."""
    torch.manual_seed(0)
    gpt = GPT(GPTConfig(vocab_size=KINDS, block_size=LENGTH, n_layer=1, n_head=2, n_embd=32))
    optimizer = torch.optim.AdamW(gpt.parameters(), lr=3e-3)
    found = []
    for _ in range(STEPS):
        tokens = torch.randint(KINDS, (32, LENGTH + 1))
        loss = next_token_loss(logits_of(gpt, tokens[:, :-1], causal), tokens[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        found.append(loss.item())
    return found


if __name__ == "__main__":
    lang = sys.argv[1] if len(sys.argv) > 1 else "en"
    print(CHANCE(lang, n=KINDS, chance=math.log(KINDS)))
    for words, causal in ((WITH, True), (WITHOUT, False)):
        found = losses(causal)
        shown = "  ".join(f"{n}: {found[n]:.3f}" for n in range(0, STEPS, max(1, STEPS // 6)))
        print(f"{words(lang)}  {shown}  {LAST(lang)}: {found[-1]:.3f}", flush=True)
