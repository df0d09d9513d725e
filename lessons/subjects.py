"""What each practical is about: its inputs, the right steps, and what each mistake gives.

All right numbers come from `model`, all wrong ones from `model.mistakes`: a mistake
added there to one of the functions named here is recognised without a change.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from lessons import cases
from lessons.cases import Case, Given
from model.attention import AttentionTrace, attend, causal_mask
from model.errors import PlaygroundError
from model.mistakes import MISTAKES, Mistake, in_every_head, names
from model.multihead import MultiHeadTrace, multi_head
from model.sampling import GenerationStep, SamplingConfig, heated, keep_top_k

Steps = dict[str, Tensor]  # right steps by name
Wrong = dict[str, Callable[[Given], Tensor]]  # by a mistake's name: what it returns


@dataclass(frozen=True)
class Subject:
    """One practical's function: `outputs` are the steps it is to return, in order."""

    outputs: tuple[str, ...]
    cases: Callable[[torch.Generator], list[Case]]
    steps: Callable[[Given], Steps]
    wrong: Callable[[], Wrong] = dict  # of a single output


def cases_of(station: int, seed: int) -> list[Case]:
    """The cases of a practical: the same for the same seed, here and in the learner's process."""
    return SUBJECTS[station].cases(torch.Generator().manual_seed(seed % 2**63))  # any seed will do


def wrong_outcome(wrong: Callable[[Given], Tensor], given: Given) -> Tensor | None:
    """What a mistake returns on these inputs; None where its shapes do not fit together."""
    try:
        return wrong(given)
    except (PlaygroundError, RuntimeError):
        return None


def adapted(mistakes: tuple[str, ...], call: Callable[[Mistake, Given], Tensor]) -> Wrong:
    """Each of these mistakes, called as `call` says."""
    return {name: lambda given, m=MISTAKES[name]: call(m, given) for name in mistakes}


def without_mask() -> tuple[str, ...]:
    """The mistakes in an attention without mask and dropout."""
    return tuple(name for name in names("attend", "mask") if MISTAKES[name].needs != "keep")


def trace_steps(trace: AttentionTrace | MultiHeadTrace) -> Steps:
    """A trace's steps by name; those inside the heads as `heads.scores` and so on."""
    if isinstance(trace, MultiHeadTrace):
        heads = {f"heads.{name}": step for name, step in trace_steps(trace.heads).items()}
        return heads | {"concat": trace.concat, "output": trace.output}
    return {name: getattr(trace, name) for name in AttentionTrace.AXES if name != "dropped"}


def causal(given: Given) -> Tensor:
    """The causal mask for as many tokens as q or x holds."""
    return causal_mask(given["q" if "q" in given else "x"].size(-2))


# 2: scores(q, k)


def steps_of_scores(given: Given) -> Steps:
    return trace_steps(attend(given["q"], given["k"], given["k"]))


def wrong_scores() -> Wrong:
    """Mistakes in attention that spoil the scores, and in each of the dot products."""

    def pairwise(m: Mistake, given: Given) -> Tensor:  # (Tq, 1, hs), (1, Tk, hs) -> (Tq, Tk)
        return m(given["q"].unsqueeze(-2), given["k"].unsqueeze(-3))

    def whole(m: Mistake, given: Given) -> Tensor:
        return m(given["q"], given["k"], given["k"]).scores

    return adapted(without_mask(), whole) | adapted(names("dot"), pairwise)


# 3: softmax(scores)


def steps_of_softmax(given: Given) -> Steps:
    return {"scores": given["scores"], "weights": given["scores"].softmax(dim=-1)}


def wrong_softmax() -> Wrong:
    """Mistakes in softmax, and those in an attention's weights: scores · 1 = scores."""

    def inside(m: Mistake, given: Given) -> Tensor:
        one = torch.eye(given["scores"].size(-1)).expand(*given["scores"].shape[:-2], -1, -1)
        return m(given["scores"], one, one, scale=False).weights

    weights = tuple(name for name in without_mask() if MISTAKES[name].step == "weights")
    alone = adapted(names("softmax"), lambda m, given: m(given["scores"]))
    return alone | adapted(weights, inside)


# 5: project(x, w_query, w_key, w_value)


def steps_of_project(given: Given) -> Steps:
    x = given["x"]
    return {"q": x @ given["w_query"], "k": x @ given["w_key"], "v": x @ given["w_value"]}


# 6: attention(q, k, v); 7: causal_attention(q, k, v)


def steps_of_attention(given: Given) -> Steps:
    return trace_steps(attend(**given))


def wrong_attention() -> Wrong:
    return adapted(without_mask(), lambda m, given: m(**given).output)


def steps_of_causal(given: Given) -> Steps:
    return trace_steps(attend(**given, mask=causal(given)))


def wrong_causal() -> Wrong:
    found = names("attend", without="keep")
    return adapted(found, lambda m, given: m(**given, mask=causal(given)).output)


# 9: multi_head(x, w_query, w_key, w_value, w_out, n_head), causal


def steps_of_multi_head(given: Given) -> Steps:
    return trace_steps(multi_head(**given, mask=causal(given)))


def wrong_multi_head() -> Wrong:
    """The mistakes between heads, and those of one attention made in every head."""

    def between(m: Mistake, given: Given) -> Tensor:
        return m(*given.values(), causal(given)).output

    def inside(m: Mistake, given: Given) -> Tensor:
        width = {"d_model": given["w_query"].size(-1)} if m.name == "scale_by_d_model" else {}
        return in_every_head(m, *given.values(), causal(given), **width).output

    return adapted(names("multi_head"), between) | adapted(names("attend", "keep"), inside)


# 16: sample_top_k(logits, k, temperature)


def steps_of_sampling(given: Given) -> Steps:
    config = SamplingConfig(given["temperature"], given["k"])
    step = GenerationStep(0, given["logits"], config)
    return {name: getattr(step, name) for name in ("probs", "probs_temperature", "probs_top_k")}


def wrong_sampling() -> Wrong:
    """Mistakes in either filter; the other is right. Which comes first makes no difference."""

    def of_top_k(m: Mistake, given: Given) -> Tensor:
        return m(heated(given["logits"], given["temperature"]), given["k"])

    def of_temperature(m: Mistake, given: Given) -> Tensor:
        return m(keep_top_k(given["logits"], given["k"]), given["temperature"])

    return adapted(names("top_k"), of_top_k) | adapted(names("temperature"), of_temperature)


SUBJECTS: dict[int, Subject] = {
    2: Subject(("scores",), cases.queries_and_keys, steps_of_scores, wrong_scores),
    3: Subject(("weights",), cases.rows_of_scores, steps_of_softmax, wrong_softmax),
    5: Subject(("q", "k", "v"), cases.vectors_and_weights, steps_of_project),
    6: Subject(("output",), cases.one_attention, steps_of_attention, wrong_attention),
    7: Subject(("output",), cases.one_causal_attention, steps_of_causal, wrong_causal),
    9: Subject(("output",), cases.many_heads, steps_of_multi_head, wrong_multi_head),
    16: Subject(("probs_top_k",), cases.next_token_logits, steps_of_sampling, wrong_sampling),
}
