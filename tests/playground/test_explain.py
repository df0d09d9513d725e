"""The glass box: each sum, worked out again from what is written, gives the number in the cell."""

from __future__ import annotations

import math
import random

import pytest
import torch

from model.multihead import merge_heads, split_heads
from playground.arithmetic import Exp, Frac, Num, numbers
from playground.explain import explain
from playground.flow import Flow, Matrix
from playground.state import State
from playground.tab import tabs
from tests.playground.random_states import broken_presets, presets, random_states

MOST_CELLS = 36  # a preset's matrix up to 6 × 6 is checked whole
SOME_CELLS = 12  # of a larger one, picked by chance
FEW_CELLS = 6  # of a random state's matrix: there are thousands


def worth(part: Num | Exp | Frac) -> float:
    """The value of one number, power or fraction."""
    if isinstance(part, Num):
        return part.value
    if isinstance(part, Exp):
        return math.exp(part.num.value - part.shift)
    top, bottom = total(part.top), total(part.bottom)
    if bottom:
        return top / bottom
    return math.nan if not top or math.isnan(top) else top * math.inf


def term(parts: list) -> float:
    """What stands between two plus signs: factors, with √, ln or "1 −" before the last one."""
    before = [p for p in parts if isinstance(p, str)]
    if before in (["√"], ["ln"], ["1 −"]):
        value = worth(parts[1])
        if before == ["ln"]:
            return math.log(value) if value else -math.inf
        return math.sqrt(value) if before == ["√"] else 1 - value
    assert set(before) <= {"×"}, before
    assert len(parts) == 2 * len(before) + 1, parts
    return math.prod(worth(p) for p in parts[::2])


def total(parts: list) -> float:
    """A sum of terms."""
    terms: list[list] = [[]]
    for part in parts:
        terms.append([]) if part == "+" else terms[-1].append(part)
    return sum(term(t) for t in terms)


def sides(parts: list) -> list[float]:
    """The value of each side of the equals signs."""
    found: list[list] = [[]]
    for part in parts:
        found.append([]) if part == "=" else found[-1].append(part)
    return [total(side) for side in found]


def same(a: float, b: float) -> bool:
    return (math.isnan(a) and math.isnan(b)) or math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9)


def test_the_evaluator_works():
    frac = Frac([Num(3.0)], ["√", Num(4.0)])
    assert sides([frac, "=", Num(2.0), "×", Num(0.5), "+", Num(0.5)]) == [1.5, 1.5]
    assert sides([Frac([Num(1.0)], ["1 −", Num(0.75)])]) == [4.0]
    assert sides([Frac([Exp(Num(-math.inf))], [Exp(Num(40.0), 40.0)])]) == [0.0]
    assert sides(["ln", Num(1.0)]) == [0.0]
    assert math.isnan(sides([Frac([Num(0.0)], [Num(0.0)])])[0])


def source_value(flow: Flow, num: Num) -> float:
    """What stands in the cell that a number says it comes from."""
    name, head, i, j = num.source
    m = flow.get(name, head)
    if m is None:  # a W that is not shown: the glass box draws on it all the same
        assert name in ("w_query", "w_key", "w_value", "w_out")
        return float(flow.facts[name][i, j])
    return float(m.values[i, j])


def identical(a: float, b: float) -> bool:
    return a == b or (math.isnan(a) and math.isnan(b))


def cells_of(m: Matrix, rng: random.Random, most: int) -> list[tuple[int, int]]:
    every = [(i, j) for i in range(m.values.size(0)) for j in range(m.values.size(1))]
    if m.name.startswith("sums_"):
        every = [(i, j) for i, j in every if j != 2]  # the leak: two whole attentions, no sum
    return every if len(every) <= most else rng.sample(every, min(most, SOME_CELLS))


def wrong_explanations(flow: Flow, rng: random.Random, most: int = MOST_CELLS) -> list[str]:
    """What is wrong with the explanations of a flow's computed cells."""
    wrong = []
    for m in flow.matrices:
        if m.kind == "input" or m.editable:
            continue
        if not (m.line or len(m.column_lines) == m.values.size(1)):
            wrong.append(f"{m.key}: no line of PyTorch")
        for i, j in cells_of(m, rng, most):
            made, found = explain(flow, m, i, j), float(m.values[i, j])
            place = f"{m.key}[{i}, {j}] = {found}"
            if not made.parts:
                wrong.append(f"{place}: no sum")
            elif not same(made.value, found) or not all(same(v, found) for v in sides(made.parts)):
                wrong.append(f"{place}: {made.value}, {sides(made.parts)}")
            wrong += [
                f"{place}: {num} holds {source_value(flow, num)}"
                for num in numbers(made.parts)
                if num.source and not identical(num.value, source_value(flow, num))
            ]
    return wrong


@pytest.mark.parametrize(
    ("tab", "state"),
    [pytest.param(tab, state, id=f"{tab.name}: {name}") for tab, name, state in broken_presets()],
)
def test_every_cell_of_a_preset_is_explained(tab, state):
    assert wrong_explanations(tab.flow(state), random.Random(1)) == []


def namespace(flow: Flow, state: State) -> dict:
    """What the lines of PyTorch start from; every later name must come from a line."""
    facts, x = flow.facts, flow.get("vectors").values
    T = len(state.tokens)
    names = {"x": x, "torch": torch, "scale": state.scale, "n_head": state.n_head}
    names |= {"dropout": state.dropout, "keep": facts.get("keep"), "mask": None}
    names |= {w: facts.get(w) for w in ("w_query", "w_key", "w_value", "w_out")}
    names |= {"split_heads": split_heads, "merge_heads": merge_heads}
    if state.causal or facts.get("always_masked"):
        names["mask"] = torch.ones(T, T, dtype=torch.bool).tril()
    if state.typed:
        names["typed"] = torch.tensor(state.weights, dtype=torch.float64)[0]
    if "query" in facts:
        names |= {"q": x[facts["query"]][None], "k": x}
    return names


def run_lines(flow: Flow, state: State) -> list[str]:
    """Each matrix whose own line of PyTorch does not compute it from the lines before it."""
    names, wrong = namespace(flow, state), []
    lined = [m for m in flow.matrices if m.line and not m.name.startswith("sums_")]
    shown = list(dict.fromkeys(m.name for m in lined))
    late = ["weights_none", "weights_after", "weights_renormalised"]  # shown in another order
    for m in sorted(lined, key=lambda m: (m.name in late, [*late, *shown].index(m.name), m.head)):
        variable = m.line.split(" = ")[0]
        if m.editable:
            heads = sorted((h for h in lined if h.name == m.name), key=lambda h: h.head)
            names[variable] = torch.stack([h.values for h in heads])
        elif m.head == 0:
            exec(m.line, names)
        computed = names[variable]
        if computed.dim() == 3:
            computed = computed[m.head]
        if not torch.allclose(computed, m.values, rtol=1e-9, atol=1e-9, equal_nan=True):
            wrong.append(f"{m.key}: {m.line}")
    return wrong


@pytest.mark.parametrize("name", tabs())
def test_the_line_of_pytorch_computes_its_matrix(name):
    tab = tabs()[name]
    right = [s for t, _, s in presets() if t is tab and not s.mistake]
    for state in (*right, *random_states(name, mistakes=False)):
        assert run_lines(tab.flow(state), state) == [], state


@pytest.mark.parametrize("part", range(4))
@pytest.mark.parametrize("name", tabs())
def test_every_cell_of_a_random_state_is_explained(name, part):
    rng = random.Random(part)
    for state in random_states(name)[part::4]:
        assert wrong_explanations(tabs()[name].flow(state), rng, FEW_CELLS) == [], state


def test_infinite_and_missing_numbers_are_explained_too():
    """Scores 1 and −1 sum to 0: ÷ their sum gives ∞ and −∞, and then ∞ − ∞."""
    state = State(vectors=[[1.0], [-1.0]], mistake="divide_by_sum")
    flow = tabs()["self-attention"].flow(state)
    assert flow.get("weights").values.tolist() == [[math.inf, -math.inf], [-math.inf, math.inf]]
    opposite = state.but(w="typed", w_query=[[1.0]], w_key=[[1.0]], w_value=[[1.0, 0.0]])
    other = state.but(vectors=[[1.0, 1.0], [-1.0, 1.0]], w="typed", w_value=[[0.0], [1.0]])
    other = other.but(w_query=[[1.0], [0.0]], w_key=[[1.0], [0.0]])
    for tried in (state, opposite, other):
        found = tabs()["self-attention"].flow(tried)
        assert wrong_explanations(found, random.Random(1)) == []
    assert math.isnan(float(tabs()["self-attention"].flow(other).get("output").values[0, 0]))
