"""Writing on: logits -> temperature -> top-k -> top-p -> one token drawn, again and again.

    p = softmax(logits / temperature), over the k most probable, then over the
    fewest whose probabilities reach top_p together

Beyond block_size a stated rule: when the window is full, its earlier half is let
go and the later half is read afresh from position 0. With and without a KV cache
the same tokens come out.

Sources: Fan et al. 2018 (top-k); Holtzman et al. 2020, "The Curious Case of
Neural Text Degeneration" (top-p).
"""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from model import errors
from model.decoding import Decoder
from model.gpt import GPT
from model.tokenizer import Tokenizer

COLDEST = 1e-8  # colder than this only the highest is left, and dividing by it may overflow


@dataclass(frozen=True)
class SamplingConfig:
    """The three filters. temperature 0 stands for its limit: always the most probable token.

    Raises `RangeError` for a temperature below 0, a top_k below 1, a top_p outside (0, 1].
    """

    temperature: float = 1.0
    top_k: int | None = None
    top_p: float | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.temperature < float("inf"):
            raise errors.RangeError(name="temperature", found=self.temperature, wanted="≥ 0")
        if self.top_k is not None and self.top_k < 1:
            raise errors.RangeError(name="top_k", found=self.top_k, wanted="≥ 1")
        if self.top_p is not None and not 0 < self.top_p <= 1:
            raise errors.RangeError(name="top_p", found=self.top_p, wanted="0 < top_p ≤ 1")


@dataclass(frozen=True)
class GenerationStep:
    """One token written, with the probabilities at each stage: each `(V,)`, computed when asked for."""

    token: int
    logits: Tensor  # (V,): what the model said
    config: SamplingConfig

    @cached_property
    def probs(self) -> Tensor:
        """softmax(logits): before any filter."""
        return self.logits.softmax(dim=-1)

    @cached_property
    def probs_temperature(self) -> Tensor:
        return heated(self.logits, self.config.temperature).softmax(dim=-1)

    @cached_property
    def probs_top_k(self) -> Tensor:
        """After temperature and top-k."""
        kept = keep_top_k(heated(self.logits, self.config.temperature), self.config.top_k)
        return kept.softmax(dim=-1)

    @cached_property
    def probs_top_p(self) -> Tensor:
        """After all three: what the token was drawn from."""
        return filtered(self.logits, self.config).softmax(dim=-1)


def heated(logits: Tensor, temperature: float) -> Tensor:
    """logits / temperature: above 1 flatter, below 1 sharper; at 0 only the highest is left."""
    if temperature < COLDEST:
        top = torch.full_like(logits, -torch.inf)
        top[logits.argmax()] = 0.0
        return top
    return logits / temperature


def keep_top_k(logits: Tensor, k: int | None) -> Tensor:
    """−∞ for all but the k highest.

    >>> keep_top_k(torch.tensor([1.0, 3.0, 2.0]), 2).tolist()
    [-inf, 3.0, 2.0]
    """
    if k is None or k >= logits.size(-1):
        return logits
    values, at = logits.topk(k)
    return torch.full_like(logits, -torch.inf).scatter(-1, at, values)


def keep_top_p(logits: Tensor, p: float | None) -> Tensor:
    """−∞ for all but the fewest, from the highest on, whose probabilities reach p together.

    >>> keep_top_p(torch.tensor([0.5, 0.3, 0.2]).log(), 0.7).isfinite().tolist()
    [True, True, False]
    """
    if p is None or p >= 1:
        return logits
    values, at = logits.sort(descending=True)
    probs = values.softmax(dim=-1)
    before = probs.cumsum(dim=-1) - probs  # what the more probable ones have together
    enough = (before >= p) & (before > 0)  # a p that float32 rounds to 0 keeps the first too
    return torch.full_like(logits, -torch.inf).scatter(
        -1, at, values.masked_fill(enough, -torch.inf)
    )


def filtered(logits: Tensor, config: SamplingConfig) -> Tensor:
    """All three filters in their order: `(V,)` -> `(V,)`."""
    hot = heated(logits, config.temperature)
    return keep_top_p(keep_top_k(hot, config.top_k), config.top_p)


def generate(
    gpt: GPT,
    idx: Tensor,
    max_new_tokens: int,
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    generator: torch.Generator | None = None,
    use_cache: bool = True,
) -> Iterator[GenerationStep]:
    """Write on from idx `(T,)` or `(1, T)`: exactly `max_new_tokens` steps, one token each.

    The same `generator` seed gives the same tokens. To stop, ask for no more steps. Without
    the causal mask no cache is used: a new token changes what all before it see.
    Raises `RangeError`, and `PromptError` for an idx of another shape, empty, or with
    an id outside the vocabulary.
    """
    config = SamplingConfig(temperature, top_k, top_p)
    check_prompt(gpt, idx)
    return steps(gpt, idx.flatten().tolist(), max_new_tokens, config, generator, use_cache)


def steps(
    gpt: GPT,
    ids: list[int],
    max_new_tokens: int,
    config: SamplingConfig,
    generator: torch.Generator | None,
    use_cache: bool,
) -> Iterator[GenerationStep]:
    """The loop of `generate`; `ids` is what the window holds."""
    decoder, again = Decoder(gpt), True
    use_cache = use_cache and gpt.config.causal
    for _ in range(max_new_tokens):
        if len(ids) > gpt.config.block_size:
            ids, again = ids[-max(1, gpt.config.block_size // 2) :], True  # the rule above
        logits = decoder.read(ids, keep=use_cache) if again else decoder.next(ids[-1])
        again = not use_cache
        token = draw(logits, config, generator)
        yield GenerationStep(token, logits, config)
        ids.append(token)


def draw(logits: Tensor, config: SamplingConfig, generator: torch.Generator | None) -> int:
    """One id from the filtered logits."""
    if config.temperature == 0:
        return int(logits.argmax())
    probs = filtered(logits, config).softmax(dim=-1)
    if generator is not None:
        probs = probs.to(generator.device)  # a seed on the CPU serves a model on a GPU
    return int(torch.multinomial(probs, 1, generator=generator))


def check_prompt(gpt: GPT, idx: Tensor) -> None:
    """A single row of at least one id, all in the vocabulary; else `PromptError`."""
    V = gpt.config.vocab_size
    if idx.dim() not in (1, 2) or idx.numel() != idx.size(-1) or not idx.numel():
        raise errors.PromptError(found=tuple(idx.shape), wanted="(T,) | (1, T), T ≥ 1")
    if idx.min() < 0 or idx.max() >= V:
        worst = int(idx.min()) if idx.min() < 0 else int(idx.max())
        raise errors.PromptError(found=worst, wanted=f"0 … {V - 1}")


class TextStream:
    """Tokens to text as they come: a character is held back until its last byte is there.

    >>> from model.tokenizer import Tokenizer
    >>> stream = TextStream(Tokenizer.from_merges([]))
    >>> [stream.add(byte) for byte in "한".encode()]
    ['', '', '한']
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer
        self.decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def add(self, token: int) -> str:
        """The text that this token completes; bytes that can be no character give \ufffd."""
        return self.decoder.decode(self.tokenizer.token_bytes(token))

    def end(self) -> str:
        """What is left: \ufffd for half a character, else nothing."""
        return self.decoder.decode(b"", final=True)


def prompt_ids(tokenizer: Tokenizer, prompt: str) -> list[int]:
    """The ids a model starts from: those of the prompt, or of a line break for an empty one."""
    return tokenizer.encode(prompt) or tokenizer.encode("\n")


def complete(
    gpt: GPT,
    tokenizer: Tokenizer,
    prompt: str,
    max_new_tokens: int,
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    seed: int = 0,
    stop: str = "",
) -> str:
    """The prompt and what the model writes after it, up to and with `stop` where one is given."""
    written = generate(
        gpt,
        torch.tensor(prompt_ids(tokenizer, prompt)),
        max_new_tokens,
        temperature=temperature,
        top_k=top_k,
        top_p=top_p,
        generator=torch.Generator().manual_seed(seed),
    )
    tokens: list[int] = []
    for step in written:
        tokens.append(step.token)
        if ends_with(tokenizer, tokens, stop):
            break
    return prompt + joined(tokenizer, tokens)


def joined(tokenizer: Tokenizer, tokens: Iterable[int]) -> str:
    """All that a `TextStream` gives for these tokens."""
    stream = TextStream(tokenizer)
    return "".join([*map(stream.add, tokens), stream.end()])


def ends_with(tokenizer: Tokenizer, tokens: list[int], end: str) -> bool:
    """Whether the text of `tokens` ends with `end`; never, where `end` is empty."""
    return bool(end) and tokenizer.decode(tokens[-len(end.encode()) :]).endswith(end)
