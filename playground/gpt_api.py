"""The named API of the trained models: tokens, what a model sees in a prompt, and writing on.

`tokenize` and `inspect_prompt` answer at once. `generate` is queued and streams:
a client that goes away stops it within a few tokens.
"""

# No `from __future__ import annotations` here: Gradio reads the real types.
import math
from collections.abc import Iterator
from itertools import islice

import torch

from model.checkpoint import Checkpoint
from model.errors import TooLongError
from model.looking import attention_weights, logit_lens, trace_of
from model.sampling import GenerationStep, TextStream, ends_with, prompt_ids
from model.sampling import generate as generation
from model.tokenizer import Tokenizer
from playground import errors, models
from playground.errors import shown
from playground.turns import TURN

MAX_TEXT = 100_000  # characters
MAX_PROMPT = 4_000  # characters
MAX_INSPECTED = 96  # tokens
MAX_NEW_TOKENS = 400
MAX_TEMPERATURE = 5
MAX_SEED = 2**31 - 1
CANDIDATES, LENS_CANDIDATES = 10, 5
TOKENS_A_TURN = 4


class InspectedError(errors.InputError):
    """The model would read it, but every weight of every head would make the answer too large."""

    en = "That is {length} tokens; /inspect answers for at most {limit}."
    ko = "토큰이 {length}개입니다. /inspect는 토큰 {limit}개까지 답합니다."


def tokenize(text: str, tokenizer: str) -> dict:
    """A text of up to 100,000 characters cut into tokens by byte-pair encoding.

    Nothing in a text is special: `<|endoftext|>` is ordinary characters. Half of a surrogate
    pair, which JSON can carry, is read as U+FFFD.

    Parameters:
        text: any text, also empty
        tokenizer: a checkpoint's name (shakespeare, shakespeare-64, korean) or gpt2
    Returns:
        an object: ids, pieces (each token decoded alone; bytes that are no whole character show as U+FFFD), bytes (for each token the list of its bytes, 0 to 255)
    """
    text = read_text("text", text, MAX_TEXT)
    chosen = models.tokenizer(read_name("tokenizer", tokenizer))
    ids = chosen.encode(text)
    known = {i: chosen.token_bytes(i) for i in set(ids)}
    return {
        "ids": ids,
        "pieces": pieces(chosen, ids),
        "bytes": [list(known[i]) for i in ids],
    }


def inspect_prompt(prompt: str, model: str) -> dict:
    """What a trained model sees in a prompt of up to 96 tokens: attention, next token, logit lens.

    One pass in float32, numbers not rounded. An empty prompt is read as one line break. The
    logit lens is softmax(lm_head(ln_f(residual stream))) after each layer, at the last position;
    after the last layer that is the model's own prediction.

    Parameters:
        prompt: any text of at most 96 tokens, and no more than the model's block_size
        model: a checkpoint's name (shakespeare, shakespeare-64, korean)
    Returns:
        an object: pieces (each token decoded alone), weights[layer][head][query][key], next_token (the ten most probable: piece, id, probability), logit_lens[layer] (the five most probable after that layer: piece, probability)
    """
    prompt = read_text("prompt", prompt, MAX_TEXT)
    chosen = models.checkpoint(read_name("model", model))
    tokenizer, ids = chosen.tokenizer, prompt_ids(chosen.tokenizer, prompt)
    block_size = chosen.gpt.config.block_size
    if len(ids) > block_size:
        raise TooLongError(length=len(ids), block_size=block_size)
    if len(ids) > MAX_INSPECTED:
        raise InspectedError(length=len(ids), limit=MAX_INSPECTED)
    trace = trace_of(chosen.gpt, ids)
    lens = logit_lens(chosen.gpt, trace, slice(-1, None))[:, 0]  # (n_layer, 1, V) -> (n_layer, V)
    return {
        "pieces": pieces(tokenizer, ids),
        "weights": attention_weights(trace).tolist(),
        "next_token": best(tokenizer, trace.logits[0, -1].softmax(dim=-1), CANDIDATES),
        "logit_lens": [
            [{"piece": b["piece"], "probability": b["probability"]} for b in five]
            for five in (best(tokenizer, probs, LENS_CANDIDATES) for probs in lens)
        ],
    }


def generate(
    prompt: str,
    model: str,
    max_new_tokens: int,
    temperature: float,
    top_k: int | None,
    top_p: float | None,
    seed: int,
) -> dict:  # of each value: Gradio derives the outputs from it
    """A trained model writes on after a prompt: a stream of {text}, at the end {text, ids, pieces}.

    The text begins with the prompt and grows by a few tokens a time; a character is held back
    until its last byte is there. Filters in order: temperature, top_k, top_p. The same arguments
    give the same text. An empty prompt starts from a line break, which is not shown. Queued.

    Parameters:
        prompt: up to 4,000 characters; beyond the model's block_size its end is read
        model: a checkpoint's name (shakespeare, shakespeare-64, korean)
        max_new_tokens: how many tokens to write, 1 to 400; korean stops where its answer ends
        temperature: 0 to 5; below 1 surer, above 1 wilder, 0 always the most probable token
        top_k: draw only from the k most probable tokens, k from 1; null: from all
        top_p: draw only from the fewest tokens whose probabilities reach p, above 0 up to 1; null: from all
        seed: a whole number from 0 to 2147483647
    Returns:
        an object: text, and in the last one also ids and pieces, of the prompt and what was written together
    """
    prompt = read_text("prompt", prompt, MAX_PROMPT)
    check_sampling(max_new_tokens, temperature, top_k, top_p, seed)
    chosen = models.checkpoint(read_name("model", model))
    steps = generation(
        chosen.gpt,
        torch.tensor(prompt_ids(chosen.tokenizer, prompt)),
        max_new_tokens,
        temperature=temperature,
        top_k=top_k,
        top_p=top_p,
        generator=torch.Generator().manual_seed(seed),
    )
    text, ids, stream = prompt, chosen.tokenizer.encode(prompt), TextStream(chosen.tokenizer)
    for tokens in turns(until_end(steps, chosen)):
        ids += tokens
        text += "".join(map(stream.add, tokens))
        yield {"text": text}
    yield {"text": text + stream.end(), "ids": ids, "pieces": pieces(chosen.tokenizer, ids)}


def until_end(steps: Iterator[GenerationStep], chosen: Checkpoint) -> Iterator[int]:
    """The tokens of `steps`, up to where a model that learned short texts ends one."""
    written: list[int] = []
    for step in steps:
        written.append(step.token)
        yield step.token
        if ends_with(chosen.tokenizer, written, chosen.separator):
            return


def turns(tokens: Iterator[int]) -> Iterator[list[int]]:
    """Tokens, a few at a time, each few computed while no other generation computes."""
    while True:
        with TURN:
            few = list(islice(tokens, TOKENS_A_TURN))
        if not few:
            return
        yield few


def pieces(tokenizer: Tokenizer, ids: list[int]) -> list[str]:
    """Each token decoded alone; bytes that are no whole character become U+FFFD."""
    known = {i: tokenizer.token_bytes(i).decode("utf-8", "replace") for i in set(ids)}
    return [known[i] for i in ids]


def best(tokenizer: Tokenizer, probs: torch.Tensor, count: int) -> list[dict]:
    """The most probable tokens of `probs` (V,), highest first."""
    values, ids = (t.tolist() for t in probs.topk(count))
    return [
        {"piece": piece, "id": i, "probability": p}
        for piece, i, p in zip(pieces(tokenizer, ids), ids, values, strict=True)
    ]


def read_text(name: str, value: object, limit: int) -> str:
    """Text that can be sent back: half of a surrogate pair becomes U+FFFD.

    Raises `NotTextError` or `TextTooLongError`.
    """
    if not isinstance(value, str):
        raise errors.NotTextError(name=name, value=shown(value))
    if len(value) > limit:
        raise errors.TextTooLongError(name=name, length=f"{len(value):,}", limit=f"{limit:,}")
    return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def read_name(name: str, value: object) -> str:
    """The name of a model or a tokenizer; whether there is one, `models` knows."""
    if not isinstance(value, str):
        raise errors.NotTextError(name=name, value=shown(value))
    return value


def check_sampling(
    max_new_tokens: object, temperature: object, top_k: object, top_p: object, seed: object
) -> None:
    """Each number within its limits, or an `InputError` that says which is not."""
    check_whole("max_new_tokens", max_new_tokens, 1, MAX_NEW_TOKENS)
    if not (is_number(temperature) and 0 <= temperature <= MAX_TEMPERATURE):
        raise errors.NumberRangeError(
            name="temperature", value=shown(temperature), low=0, high=MAX_TEMPERATURE
        )
    if top_k is not None and not (is_whole(top_k) and top_k >= 1):
        raise errors.TopKError(value=shown(top_k))
    if top_p is not None and not (is_number(top_p) and 0 < top_p <= 1):
        raise errors.TopPError(value=shown(top_p))
    check_whole("seed", seed, 0, MAX_SEED)


def check_whole(name: str, value: object, low: int, high: int) -> None:
    """A whole number from `low` to `high`, or `WholeRangeError`."""
    if not (is_whole(value) and low <= value <= high):
        raise errors.WholeRangeError(name=name, value=shown(value), low=low, high=high)


def is_whole(value: object) -> bool:
    """true is not a number."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_number(value: object) -> bool:
    """A number that is finite: JSON as Python reads it may hold NaN."""
    return is_whole(value) or (isinstance(value, float) and math.isfinite(value))
