"""What a model says to the claims of document 2, a series' part about attention."""

from __future__ import annotations

from concurrent.futures import Future
from functools import cache
from threading import Thread

import torch
import torch.nn.functional as F

from lessons.words import Words, same
from model import MultiHeadAttention, attend, attend_fast, causal_mask, masking
from model.errors import GPT2FilesError
from model.looking import attention_weights, trace_of
from model.steps import dot, score_bytes
from model.tokenizer import Tokenizer, gpt2_tokenizer

from .said import drawing, fixed, largest, listed, pieces, plain, quoted, shipped, tiny

SCORES = torch.tensor(
    [[2.1, 1.5, 0.8, 1.2], [1.3, 2.5, 1.1, 0.9], [0.7, 1.8, 2.2, 1.4], [1.0, 1.6, 1.9, 2.3]]
).double()
PRINTED = torch.tensor([0.1, 0.3, 0.6]).double()  # of the third row
ROMEO = "ROMEO: But soft, what light through yonder window breaks?"
EXPECTED = [(0, 1, 2), (0, 1, 2), (1, 2, 3), (2, 3, 4), (3, 4, 5)]  # whom words 0 to 4 look at
BANK = "The bank can guarantee deposits will eventually cover future tuition costs"
BEGUN, WORDS = "나는 학교에", ("간다", "온다")
WAIT = 3.0  # seconds for GPT-2's tokenizer where it must be downloaded
MIB = 2**20
GPT2_HEADS, GPT2_WIDTH = 12 * 12, 768  # 12 layers of 12 heads


def third_row() -> dict[str, str]:
    row = masking.before(SCORES, causal_mask(4))[2, :3]
    return {
        "row": listed(row, 3),
        "rounded": listed(row, 1),
        "off": fixed(largest(row - PRINTED), 3),
    }


def first_token_ahead() -> dict[str, object]:
    """The printed list counted, and every weight of a trained model on that line."""
    model = shipped("shakespeare")
    weights = attention_weights(trace_of(model.gpt, model.tokenizer.encode(ROMEO)))
    top = weights[:, :, 0].topk(3).values  # (n_layer, n_head, 3)
    return {
        "ahead": sum(key > query for query, keys in enumerate(EXPECTED) for key in keys),
        "printed": sum(map(len, EXPECTED)),
        "heads": top[..., 0].numel(),
        "top": plain((top[..., 0].min(), top[..., 1].max(), top[..., 2].max())),
        "future": tiny(weights.triu(1).sum()),
    }


def romeo() -> dict[str, object]:
    """GPT-2's tokens of ROMEO where its tokenizer can be had, and those of ours."""
    found = gpt2()
    said = NO_GPT2
    if found is not None:
        cut = [found.decode([i]) for i in found.encode("ROMEO")]
        said = Words(
            f"GPT-2 cuts ROMEO into {len(cut)} tokens: {quoted(cut)}.",
            f"GPT-2는 ROMEO를 토큰 {len(cut)}개로 자릅니다: {quoted(cut)}.",
        )
    ours = {name: pieces(shipped(name), "ROMEO") for name in ("shakespeare", "korean")}
    return {"gpt2": said} | {name: same(quoted(cut)) for name, cut in ours.items()}


NO_GPT2 = Words(
    "GPT-2's tokenizer files are not on this computer just now, so its own cut (ROM | EO) could not be computed again.",
    "지금 이 컴퓨터에는 GPT-2의 토크나이저 파일이 없어, GPT-2가 자르는 방식(ROM | EO)을 다시 계산하지 못했습니다.",
)


def gpt2() -> Tokenizer | None:
    """GPT-2's tokenizer; None where it is not to be had, or not within a few seconds."""
    try:
        return asked_for().result(timeout=WAIT)
    except (TimeoutError, GPT2FilesError):
        return None


@cache
def asked_for() -> Future[Tokenizer]:
    """Asked for once, in a thread of its own: a slow network keeps nobody waiting for long."""
    answer: Future[Tokenizer] = Future()

    def ask() -> None:
        try:
            answer.set_result(gpt2_tokenizer())
        except GPT2FilesError as error:
            answer.set_exception(error)

    Thread(target=ask, daemon=True).start()
    return answer


def dot_of_three() -> dict[str, str]:
    q, k = torch.tensor([0.1, 0.5, -0.2]).double(), torch.tensor([0.2, 0.3, -0.1]).double()
    return {
        "products": listed(q * k, 2),
        "dot": fixed(dot(q, k), 2),
        "missing": fixed(0.37 - dot(q, k), 2),
    }


def both_ways() -> dict[str, object]:
    """Pairs of tokens that look at each other, in every head of a trained model."""
    model = shipped("shakespeare")
    weights = attention_weights(trace_of(model.gpt, model.tokenizer.encode(BANK)))
    T = weights.size(-1)
    forward, back = weights.triu(1), weights.tril(-1).mT  # [i, j], i < j: i to j, and j to i
    return {
        "pairs": T * (T - 1) // 2,
        "heads": weights[..., 0, 0].numel(),
        "both": int(((forward > 0) & (back > 0)).sum()),
        "forward": tiny(forward.max()),
        "back": fixed(back.max(), 2),
    }


@torch.no_grad()
def query_of_the_word() -> dict[str, str]:
    """Another last word: does the prediction of that word move?"""
    model = shipped("korean")
    ids = [model.tokenizer.encode(f"{BEGUN} {word}") for word in WORDS]
    at, n = len(model.tokenizer.encode(BEGUN)), min(map(len, ids))
    before, after = (model.gpt(torch.tensor([found]))[0, :n] for found in ids)  # (n, V)
    return {
        "asked": pieces(model, BEGUN)[-1].strip(),
        "word": WORDS[0],
        "moved": tiny(largest(before[at - 1] - after[at - 1])),
        "later": fixed(largest(before[at:] - after[at:]), 1),
    }


def hook() -> dict[str, object]:
    """The hook as printed, and the same one registered."""
    with torch.random.fork_rng(devices=[]):  # its weights are drawn, and nobody else's numbers
        attention = MultiHeadAttention(8, 2).requires_grad_(False)
    x = torch.randn(1, 3, 8, generator=drawing())
    collected: list[torch.Tensor] = []

    def hook_fn(module, args, output) -> None:
        collected.append(output[1])

    attention(x)  # as printed: nobody was told of hook_fn
    found = len(collected)
    handle = attention.register_forward_hook(hook_fn)
    try:
        attention(x)
        error = ""
    except IndexError as raised:
        error = f"IndexError: {raised}"
    finally:
        handle.remove()
    return {"collected": found, "error": error}


def twice_the_length() -> dict[str, str]:
    """Multiplications of the scores, and of a whole block 768 wide, from 512 tokens to 1,024."""
    return {
        "scores": fixed(scores_cost(1024) / scores_cost(512), 0),
        "block": fixed(block_cost(1024) / block_cost(512), 1),
        "share": fixed(100 * scores_cost(512) / block_cost(512), 0),
        "long": fixed(block_cost(2**17) / block_cost(2**16), 1),
    }


def scores_cost(T: int, C: int = GPT2_WIDTH) -> int:
    """Every query with every key, and every weight with every value: C multiplications each."""
    return 2 * T * T * C


def block_cost(T: int, C: int = GPT2_WIDTH) -> int:
    """The same and the four matrices, C × 3C, C × C, C × 4C and 4C × C, for each token."""
    return T * (3 + 1 + 4 + 4) * C * C + scores_cost(T, C)


def memory_of_scores() -> dict[str, str]:
    sizes = [score_bytes(T, 4) / MIB for T in (1024, 4096, 16384)]
    return {
        "sizes": ", ".join(f"{size:,.0f}" for size in sizes),
        "gpt2": fixed(sizes[0] * GPT2_HEADS, 0),
        "heads": str(GPT2_HEADS),
        "long": fixed(sizes[2] * GPT2_HEADS / 1024, 0),
    }


def fnet() -> dict[str, str]:
    """Is the mix of a sum the sum of the mixes? Where nothing is weighed by content, yes."""
    generator = drawing()
    a, b = (torch.randn(6, 8, generator=generator).double() for _ in range(2))

    def apart(mix) -> float:
        return largest(mix(a + b) - mix(a) - mix(b))

    return {
        "fnet": tiny(apart(lambda x: torch.fft.fft2(x).real)),  # FNet's whole mixing step
        "attention": fixed(apart(lambda x: attend(x, x, x).output), 2),
    }


@torch.no_grad()
def fused_qkv() -> dict[str, object]:
    """c_attn of a trained model, at once and in three parts."""
    c_attn = shipped("shakespeare").gpt.blocks[0].attn.c_attn
    x = torch.randn(5, c_attn.in_features, generator=drawing())
    three = [F.linear(x, w) for w in c_attn.weight.chunk(3)]
    return {
        "difference": tiny(largest(F.linear(x, c_attn.weight) - torch.cat(three, dim=-1))),
        "fused": f"{c_attn.weight.numel():,}",
        "separate": f"{sum(w.numel() for w in c_attn.weight.chunk(3)):,}",
    }


def flash_identical() -> dict[str, str]:
    """Attention step by step against PyTorch's one call, in two precisions."""
    q, k, v = torch.randn(3, 1, 4, 64, 16, generator=drawing()).double()  # (B, nh, T, hs)
    apart = {
        name: largest(attend(*given).output - attend_fast(*given))
        for name, given in (("double", (q, k, v)), ("single", (q.float(), k.float(), v.float())))
    }
    return {name: tiny(value) for name, value in apart.items()}
