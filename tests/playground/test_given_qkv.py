"""q, k and v themselves typed, as a GPT's head sends them: no X, no W, all else as before."""

from __future__ import annotations

import json
import random

import pytest
import torch
import torch.nn.functional as F

from model.mistakes import MISTAKES
from playground import input_errors as errors
from playground.actions import apply, usable
from playground.explain import explain
from playground.stage import act, table
from playground.state import MAX_TOKENS, MAX_WIDTH, QKV, State, from_json
from tests.playground.doing import DOT, HEADS, MASKING, SELF, cell, do, paste, put, refused
from tests.playground.html_tree import cells, read, tables
from tests.playground.references import attention, numbers, survivors
from tests.playground.test_code import run, same

GIVEN = State(
    tokens=["O", "␣Rome", "o"],
    w="given",
    causal=True,
    x="seeded",
    x_width=2,
    q=[[1.0, 0.5, -1.0], [0.2, 0.1, 0.0], [-2.0, 1.0, 0.25]],
    k=[[0.5, 0.5, 0.0], [1.0, -1.0, 2.0], [0.0, 3.0, 1.0]],
    v=[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]],  # of another width than q and k
)


def random_given(count: int = 40) -> list[State]:
    """Given q, k, v of any size, with the switches anywhere."""
    rng = random.Random(31)

    def rows(T: int, d: int) -> list[list[float]]:
        return [[round(rng.gauss(0, 1.5), 3) for _ in range(d)] for _ in range(T)]

    found = []
    for _ in range(count):
        T, d, dv = rng.choice([1, 2, 5, 16]), rng.choice([1, 3, 16, 64]), rng.choice([1, 4, 64])
        state = GIVEN.but(
            tokens=[f"t{n}" for n in range(T)],
            q=rows(T, d),
            k=rows(T, d),
            v=rows(T, dv),
            scale=rng.random() < 0.6,
            causal=rng.random() < 0.6,
            dropout=rng.choice([0.0, 0.0, 0.5]),
            dropout_seed=rng.randrange(2**31),
        )
        if rng.random() < 0.2:
            state = state.but(typed=True, weights=[[[round(rng.random(), 2) for _ in range(T)] for _ in range(T)]])  # fmt: skip
        found.append(state)
    return found


def page(state, lang="en"):
    reply = act({"tab": SELF.name, "lang": lang, "state": state.to_json()})
    assert not reply["notice"]
    return read(reply["html"])


def test_the_numbers_are_those_of_torch():
    for state in random_given():
        q, k, v = (numbers(getattr(state, name)) for name in QKV)
        T = len(q)
        keep = survivors(state, T, T) if state.dropout else None
        typed = state.weights[0] if state.typed else None
        expected = attention(state, q, k, v, typed, keep)
        flow = SELF.flow(state)
        for name, right in (expected | {"q": q, "k": k, "v": v}).items():
            torch.testing.assert_close(flow.get(name).values, right, rtol=1e-9, atol=1e-12)
        assert flow.get("vectors") is None
        assert flow.get("w_query") is None


def test_the_page_shows_no_x_and_lets_q_k_v_be_typed():
    for lang in ("en", "ko"):
        root = page(GIVEN, lang)
        found = tables(root)
        assert [name for name, _ in found] == [*QKV, "scores", "scaled", "masked", "weights", "output"]  # fmt: skip
        for name in QKV:
            values = getattr(GIVEN, name)
            for (i, j), td in cells(found[name, 0]).items():
                assert float(td.first("input").attributes["value"].replace("−", "-")) == values[i][j]  # fmt: skip
        assert not list(cells(found["scores", 0])[0, 0].all("input"))


def test_every_number_opens_to_its_sum():
    """All computed cells, without W or X to come from."""
    flow = SELF.flow(GIVEN)
    for m in flow.matrices:
        if m.name in QKV:
            continue
        for i in range(m.values.size(0)):
            for j in range(m.values.size(1)):
                made = explain(flow, m, i, j)
                assert made.parts
                assert made.value == pytest.approx(float(m.values[i, j]), nan_ok=True)
                assert {source[0] for source in made.sources} <= {*QKV, "scores", "scaled", "masked", "weights"}  # fmt: skip


@pytest.mark.parametrize("matrix", QKV)
def test_a_cell_is_typed_over(matrix):
    after = cell(GIVEN, "-0,75", 1, 1, matrix=matrix)
    rows = [list(row) for row in getattr(GIVEN, matrix)]
    rows[1][1] = -0.75
    assert after == GIVEN.but(**{matrix: rows})
    wrong = cell(GIVEN, "cat", 1, 1, matrix=matrix)
    assert wrong == GIVEN.but(bad={f"{matrix}:0:1:1": "cat"})
    (message,) = page(wrong, "ko").all("span", "msg")
    assert "숫자가 아닙니다" in message.text
    assert cell(wrong, "2", 1, 1, matrix=matrix).bad == {}


@pytest.mark.parametrize("where", [{"row": 3}, {"col": 3}, {"row": -1}, {"head": 1}, {"matrix": "w_query"}, {"matrix": "scores"}])  # fmt: skip
def test_a_cell_that_is_not_there_is_refused(where):
    action = {"do": "cell", "matrix": "q", "head": 0, "row": 0, "col": 0, "text": "5", **where}
    refused(errors.ActionError, SELF, GIVEN, action)
    refused(errors.ActionError, SELF, GIVEN.but(w="identity"), {**action, "matrix": "q"})


def test_a_block_is_pasted_where_it_fits():
    assert paste(GIVEN, "7\t8\n9\t10", 1, 1, "k").k == [[0.5, 0.5, 0.0], [1.0, 7, 8], [0.0, 9, 10]]
    action = {"do": "paste", "matrix": "v", "head": 0, "row": 0, "col": 1, "text": "1\t2"}
    error = refused(errors.PasteError, SELF, GIVEN, action)
    assert (error.values["room_rows"], error.values["room_cols"]) == (3, 1)


def test_tokens_come_and_go():
    more = do(GIVEN, "add")
    assert [getattr(more, n)[-1] for n in QKV] == [[0.0] * 3, [0.0] * 3, [0.0] * 2]
    assert more.tokens[-1] == "t4"
    less = do(more, "remove", index=0)
    assert [getattr(less, n) for n in QKV] == [getattr(more, n)[1:] for n in QKV]
    assert do(GIVEN, "remove", index=1).v == [[1.0, 2.0], [5.0, 6.0]]
    state = GIVEN
    while len(state.tokens) > 1:
        state = do(state, "remove", index=0)
    assert SELF.flow(state).get("weights").values.tolist() == [[1.0]]
    refused(errors.TooFewError, SELF, state, {"do": "remove", "index": 0})
    full = GIVEN
    while len(full.tokens) < MAX_TOKENS:
        full = do(full, "add")
    refused(errors.TooManyError, SELF, full, {"do": "add"})
    assert usable(SELF, json.loads(json.dumps(full.to_json()))) == full


def test_the_width_of_queries_and_keys_changes_and_values_stay():
    wider = do(GIVEN, "width", by=1)
    assert [len(getattr(wider, n)[0]) for n in QKV] == [4, 4, 2]
    assert torch.equal(SELF.flow(wider).get("scores").values, SELF.flow(GIVEN).get("scores").values)
    narrow = do(do(GIVEN, "width", by=-1), "width", by=-1)
    assert [len(getattr(narrow, n)[0]) for n in QKV] == [1, 1, 2]
    refused(errors.TooFewError, SELF, narrow, {"do": "width", "by": -1})
    widest = GIVEN.but(q=[[0.5] * MAX_WIDTH] * 3, k=[[0.5] * MAX_WIDTH] * 3)
    refused(errors.TooManyError, SELF, widest, {"do": "width", "by": 1})


# `set_w` begins a typed W as wide as q, not as X: the choice is refused.
@pytest.mark.parametrize("other", ["identity", "seeded", "typed"])
@pytest.mark.parametrize("x", ["typed", "seeded"])
def test_switching_away_and_back(other, x):
    """What was sent is still there, also after tokens came and went elsewhere."""
    away = put(GIVEN.but(x=x), "w", other)
    assert away.w == other
    assert SELF.flow(away).get("vectors").values.size(0) == 3
    assert put(away, "w", "given").but(show_w=False) == put(away, "w", other).but(w="given", show_w=False)  # fmt: skip
    back = put(away, "w", "given")
    assert [getattr(back, n) for n in QKV] == [getattr(GIVEN, n) for n in QKV]
    moved = put(do(do(away, "remove", index=1), "add"), "w", "given")
    assert moved.q == [GIVEN.q[0], GIVEN.q[2], [0.0] * 3]
    assert torch.equal(SELF.flow(moved).get("q").values, numbers(moved.q))
    assert usable(SELF, json.loads(json.dumps(moved.to_json()))) == moved


def test_there_is_no_way_to_given_without_something_given():
    plain = State()
    refused(errors.ActionError, SELF, plain, {"do": "set", "key": "w", "value": "given"})
    labels = [label.text for label in page(plain).all("label")]
    assert not [text for text in labels if "Q, K, V" in text]
    assert [text for text in (e.text for e in page(GIVEN).all("label")) if "Q, K, V as given" in text]  # fmt: skip


@pytest.mark.parametrize("name", SELF.mistakes)
def test_a_mistake_is_made_in_what_is_given(name):
    """As the mistake's own function makes it; the script that is copied says the same."""
    state = put(GIVEN.but(dropout=0.5), "mistake", name)
    q, k, v = (numbers(getattr(GIVEN, n)) for n in QKV)
    shown = SELF.flow(state)
    extra = {"d_model": 3} if name == "scale_by_d_model" else {}
    expected = MISTAKES[name](
        q, k, v, torch.ones(3, 3).tril().bool(),
        scale=True, dropout=0.5, keep=survivors(state, 3, 3).bool(), **extra,
    )  # fmt: skip
    for step in ("weights", "output"):
        torch.testing.assert_close(
            shown.get(step).values, getattr(expected, step), equal_nan=True, rtol=1e-9, atol=1e-12
        )
    assert same(run(SELF.script(state))["output"], shown.get("output").values)
    assert page(state, "ko").first("p", "breakage").text


def test_the_script_gives_what_the_page_shows():
    for state in random_given():
        script = SELF.script(state)
        made = run(script)
        assert same(made["output"], SELF.flow(state).get("output").values)
        assert made["tokens"] == state.tokens
        for name in QKV:
            assert made[name].tolist() == getattr(state, name)
        assert "w_query" not in made
        assert "x" not in made
    changed = SELF.script(GIVEN).replace("0.25", "0.35", 1)
    with pytest.raises(AssertionError):
        run(changed)


def test_weights_are_typed_by_hand_as_anywhere():
    typed = cell(put(GIVEN, "typed", True), "0.9", 2, 0, matrix="weights")
    weights = numbers(typed.weights[0])
    assert weights[2, 0] == 0.9
    torch.testing.assert_close(SELF.flow(typed).get("output").values, weights @ numbers(GIVEN.v))


def test_predicting_works_without_x():
    asked = do(GIVEN, "ask", matrix="weights", seed=3)
    _, _, i, j = asked.ask
    right = SELF.flow(GIVEN).get("weights").values[i, j]
    assert 0 < right < 1 or right == 1
    answered = do(asked, "answer", text=f"{right:.4f}")
    assert usable(SELF, answered.to_json()).ask == asked.ask


def test_links_and_files():
    for state in random_given():
        text = json.dumps(state.to_json(), allow_nan=False)
        assert usable(SELF, json.loads(text)) == state
    rows = table({"tab": SELF.name, "lang": "en", "state": GIVEN.to_json(), "matrix": "v"})
    assert [line.split(",")[1:] for line in rows.split()] == [["1.0", "2.0"], ["3.0", "4.0"], ["5.0", "6.0"]]  # fmt: skip


@pytest.mark.parametrize("tab", [DOT, MASKING, HEADS], ids=lambda tab: tab.name)
def test_other_tabs_do_not_take_it(tab):
    with pytest.raises(errors.LinkError, match=r"identity \| typed \| seeded") as refusal:
        usable(tab, GIVEN.to_json())
    assert refusal.value.values["where"] == "w"


@pytest.mark.parametrize("tab", [MASKING, HEADS], ids=lambda tab: tab.name)
def test_other_tabs_do_not_switch_to_it(tab):
    """A link may carry q, k and v without using them."""
    hidden = {**GIVEN.to_json(), "w": "identity"}
    state = usable(tab, hidden)
    refused(errors.ActionError, tab, state, {"do": "set", "key": "w", "value": "given"})


@pytest.mark.parametrize(
    ("wrong", "where"),
    [
        ({"q": None}, "q"), ({"k": None}, "k"), ({"v": None}, "v"), ({"q": []}, "q"), ({"q": "x"}, "q"),
        ({"q": GIVEN.q[:2]}, "q rows"), ({"k": GIVEN.k[:2]}, "k rows"), ({"v": [*GIVEN.v, [0.0, 0.0]]}, "v rows"),
        ({"k": GIVEN.v}, "k columns"), ({"v": [[1.0], [2.0], []]}, "v[2]"), ({"v": [[1.0], [2.0], [3.0, 4.0]]}, "v[2]"),
        ({"q": [[0.0] * 65] * 3}, "q[0]"), ({"k": [[1e7] * 3] * 3}, "k[0][0]"), ({"v": [["1"]] * 3}, "v[0][0]"),
        ({"v": [[float("nan")]] * 3}, "v[0][0]"), ({"v": [[True]] * 3}, "v[0][0]"), ({"q": [[0.0] * 3] * 65}, "q"),
        ({"w": "taken"}, "w"),
    ],
)  # fmt: skip
def test_what_cannot_be_given_is_refused_with_its_place(wrong, where):
    found = {**GIVEN.to_json(), **wrong}
    with pytest.raises(errors.LinkError) as refusal:
        from_json(found)
    assert refusal.value.values["where"] == where
    for lang in ("en", "ko"):
        reply = act({"tab": SELF.name, "lang": lang, "state": found})
        assert reply["notice"] == refusal.value.text(lang)
        assert reply["state"] == SELF.default.to_json()


def test_numbers_as_large_as_can_be_typed_do_not_overflow():
    large = GIVEN.but(q=[[1e6] * 3] * 3, k=[[-1e6] * 3] * 3, v=[[1e6, -1e6]] * 3)
    assert usable(SELF, large.to_json()) == large
    output = SELF.flow(large).get("output").values
    expected = F.scaled_dot_product_attention(*(numbers(r)[None] for r in (large.q, large.k, large.v)), is_causal=True)[0]  # fmt: skip
    torch.testing.assert_close(output, expected)


def test_what_a_person_does_never_leaves_a_state_that_cannot_come_back():
    """Long random walks of edits, switches and sizes: each state is one that a link can hold."""
    rng = random.Random(5)
    done = 0
    for _ in range(25):
        state = GIVEN
        for _ in range(25):
            n = rng.randrange(4)
            action = rng.choice(
                [
                    {"do": "add"}, {"do": "remove", "index": n}, {"do": "width", "by": rng.choice([-1, 1])},
                    {"do": "set", "key": "w", "value": rng.choice(["given", "given", "identity", "seeded", "typed"])},
                    {"do": "set", "key": "x", "value": rng.choice(["typed", "seeded"])},
                    {"do": "set", "key": "x_width", "value": str(rng.randrange(1, 8))},
                    {"do": "set", "key": "typed", "value": rng.random() < 0.5},
                    {"do": "set", "key": "causal", "value": rng.random() < 0.5},
                    {"do": "set", "key": "mistake", "value": rng.choice(["", *SELF.mistakes])},
                    {"do": "cell", "matrix": rng.choice([*QKV, "vectors"]), "head": 0, "row": n, "col": 0, "text": "2"},
                    {"do": "paste", "matrix": rng.choice(QKV), "head": 0, "row": n, "col": 0, "text": "1\t2"},
                ]
            )  # fmt: skip
            try:
                state = apply(SELF, state, action)
                done += 1
            except errors.PlaygroundError:
                continue
            assert usable(SELF, json.loads(json.dumps(state.to_json()))) == state
            SELF.flow(state)
    assert done > 200
