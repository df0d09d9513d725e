"""The Training tab: its curves beside runs of one's own, what its examples promise, its turns and memory."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
import torch

from model.errors import PlaygroundError
from model.live import LiveRun, LiveSettings, one_step
from model.tasks import ask
from playground import turns
from playground.explain import explain
from playground.stage import act
from playground.tabs.training import TAB
from playground.training import runs
from playground.training.learning import suspicion
from playground.training.look import attended, learned, opened
from playground.training.runs import ASKED, Memory, Watched
from playground.training.state import SECOND, TrainingState, first_of, runs_of, shapes
from tests.playground.html_tree import read

EXAMPLES = [e.name for e in TAB.form.examples]
LANGS = ("en", "ko")
QUICK = TrainingState(n_layer="1", n_embd="8", n_head="2")


@pytest.fixture(autouse=True)
def nothing_remembered(monkeypatch):
    """Each test begins with an empty memory and an empty queue."""
    monkeypatch.setattr(runs, "MEMORY", Memory())
    monkeypatch.setattr(turns, "QUEUE", turns.Queue())
    for cached in (learned, attended, opened):
        cached.cache_clear()


def do(state, name, /, **fields):
    return TAB.apply(state, {"do": name, **fields})


def set_(state, key, value):
    return do(state, "set", key=key, value=value)


def trained(state, most=200):
    """To where training pauses by itself, turn by turn as the page asks."""
    state = do(state, "start", seed=7)
    for _ in range(most):
        if not state.running:
            return state
        state = do(state, "more")
    raise AssertionError("it never pauses")


def at(state, steps):
    """After as many single steps."""
    for _ in range(steps):
        state = do(state, "once")
    return state


def alone(settings, steps):
    run = LiveRun(settings)
    for _ in range(steps):
        run.advance()
    return run


def page_of(state, lang="en"):
    return read(TAB.view(state, lang))


# The page


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("lang", LANGS)
@pytest.mark.parametrize("section", ["", "attention", "weight"])
def test_an_example_is_shown_as_it_is_in_each_section(name, lang, section):
    state = TAB.form.example(name)
    state = state.but(section=section) if section else state
    reply = act({"tab": "training", "lang": lang, "state": state.to_json()})
    assert reply["notice"] == ""
    assert reply["state"] == state.to_json()
    page = read(reply["html"])
    for control in [*page.all("select"), *page.all("input"), *page.all("textarea")]:
        labelled = any(control in label.all() for label in page.all("label"))
        assert labelled or "aria-label" in control.attributes


@pytest.mark.parametrize("compare", SECOND)
def test_the_curves_are_those_of_runs_of_ones_own(compare):
    state = at(QUICK.but(compare=compare, task="sort"), 12)
    first = LiveSettings("sort", n_layer=1, n_embd=8, n_head=2)
    change = {
        "nothing": None,
        "mask": {"causal": False},
        "positions": {"positions": False},
        "one_head": {"n_head": 1},
        "rate": {"learning_rate": 30 * 0.005},
        "seed": {"seed": 1},
    }[compare]
    settings = [first] if change is None else [first, replace(first, **change)]
    page = page_of(state)
    assert len(list(page.all("polyline"))) == len(settings)
    for n, one in enumerate(settings):
        run = alone(one, 12)
        assert learned(one, 12).losses == tuple(run.losses)
        answers = ask(run.gpt, run.task, ASKED)
        told = list(page.all("p", "sentence"))[n].text
        right = sum(a.is_right for a in answers)
        assert f"{run.losses[-1]:.2f}, and {right} of 32" in told
        table = [t for t in page.all("table", "list") if "question" in t.text][n]
        now = list(list(table.all("tr"))[1].all("td"))[-1]
        assert now.text.split()[-1] == answers[0].given


def test_chance_and_floor_are_drawn_and_named():
    page = page_of(at(QUICK, 2))
    assert len(list(page.all("line", "level"))) == 2
    assert {"chance, ln 9", "floor"} <= {t.text for t in page.all("text")}
    text = at(TAB.form.example("your-text"), 2)
    assert "floor" not in {t.text for t in page_of(text).all("text")}


def test_answers_are_marked_by_sign_and_word_and_counted():
    state = trained(TrainingState())
    for lang, words in zip(LANGS, (("right", "wrong"), ("맞음", "틀림")), strict=True):
        marks = [s for s in page_of(state, lang).all("span") if s.attributes.get("role") == "img"]
        assert {(s.text, s.attributes["aria-label"]) for s in marks} == set(
            zip("✓✗", words, strict=True)
        )
    run = alone(LiveSettings(), 300)
    right = sum(a.is_right for a in ask(run.gpt, run.task, ASKED))
    page = page_of(state)
    assert f"{right} / 32" in page.text
    heads = [h.text for h in page.all("th") if h.attributes.get("scope") == "col"]
    assert heads[-4:] == ["before", "step 100", "step 200", "now"]


# What the examples promise


def late(settings, step, count=20):
    return sum(learned(settings, step).losses[-count:]) / count


def right(settings, step):
    return sum(a.is_right for a in learned(settings, step).now)


@pytest.mark.parametrize("name", ["copy", "reverse", "your-text", "korean-text"])
def test_one_run_learns_and_goes_from_wrong_to_right(name):
    state = trained(TAB.form.example(name))
    assert state.step == 300
    (run,) = runs_of(state)
    assert not any(a.is_right for a in learned(run, 300).answers[0])
    assert right(run, 300) >= 29
    assert f"{right(run, 300)} / 32" in page_of(state).text


def test_without_the_mask_the_loss_is_too_low_and_the_page_says_so():
    state = trained(TAB.form.example("no-mask"))
    honest, cheating = runs_of(state)
    assert late(cheating, 300) < 0.2 < late(honest, 300)
    assert right(cheating, 300) <= 4 < 20 <= right(honest, 300)
    for lang, words in zip(LANGS, ("less than anyone can have", "너무 낮은 손실"), strict=True):
        told = [p.text for p in page_of(state, lang).all("p", "sentence")]
        assert [words in text for text in told] == [False, True]
        assert "0.87" in told[1]


def test_without_positions_reversing_fails_and_counting_does_not():
    state = TAB.form.example("no-positions")
    for task, learns in (("reverse", False), ("count", True)):
        done = trained(set_(state, "task", task))
        with_positions, without = runs_of(done)
        assert right(with_positions, 300) >= 29
        assert (right(without, 300) == 32) == learns
        assert (right(without, 300) <= 2) == (not learns)


def test_one_head_copies_sooner_than_four():
    state = trained(TAB.form.example("one-head"))
    four, one = (learned(run, 300).losses for run in runs_of(state))
    assert sum(one[60:120]) < sum(four[60:120])


def test_too_high_a_rate_learns_no_letter():
    state = trained(TAB.form.example("too-fast"))
    calm, wild = runs_of(state)
    assert wild.learning_rate == pytest.approx(30 * calm.learning_rate)
    assert right(wild, 300) == 0 < 29 <= right(calm, 300)
    assert late(wild, 300) > 1.8


def test_korean_has_more_different_characters():
    english, korean = (runs_of(TAB.form.example(n))[0] for n in ("your-text", "korean-text"))
    assert english.config.vocab_size < korean.config.vocab_size


def test_nothing_is_suspicious_in_an_honest_run():
    found = learned(LiveSettings(), 0)
    assert suspicion(LiveSettings(), found, "en") == ""
    state = trained(TrainingState())
    assert "less than anyone" not in page_of(state).text


def test_copying_looks_seven_characters_back():
    """The example asks which head does: one looks there most, at every place of the answer."""
    run = runs_of(trained(TrainingState()))[0]
    heads = torch.cat([b.attn.heads.weights[0] for b in attended(run, 300).trace.blocks])
    back = heads[:, range(7, 12), range(1, 6)]  # place t writes letter t + 1, which stands at t − 6
    assert back.mean(dim=-1).max() > 0.5


# Turns, pauses, memory


def test_training_pauses_goes_on_and_can_be_stopped():
    state = do(QUICK, "start", seed=3)
    assert state.running
    assert 0 < state.step < 300
    assert f"step {state.step} of 300" in page_of(state).text
    stopped = do(state, "stop")
    assert do(stopped, "more") == stopped
    on = trained(stopped)
    assert (on.step, on.left, on.running) == (300, 0, False)
    assert "Go on to step 1,000" in page_of(on).text
    assert learned(first_of(on), 300).losses == tuple(alone(first_of(on), 300).losses)


def test_single_steps_are_the_same_run():
    state = at(QUICK.but(compare="mask"), 5)
    assert state.step == 5
    for run in runs_of(state):
        assert learned(run, 5).losses == tuple(alone(run, 5).losses)
    begun = do(state, "begin")
    assert (begun.step, begun.running) == (0, False)
    assert learned(first_of(begun), 0).losses == ()
    assert at(begun, 5) == state


def test_another_setting_is_another_run_from_the_beginning():
    state = at(QUICK, 3)
    for key, value in [("task", "sort"), ("n_layer", "2"), ("causal", False), ("rate", "0.01"), ("compare", "mask"), ("seed", "4")]:  # fmt: skip
        after = set_(state, key, value)
        assert (after.step, after.running) == (0, False), key
    assert set_(state, "section", "attention").step == 3
    assert set_(state, "seed", "0").step == 3
    assert set_(state, "text", "a text that is not read").step == 3


@pytest.mark.parametrize("step", [1, 137, 300])
def test_a_link_to_a_step_is_trained_again_in_turns_and_rests_there(step):
    found = json.loads(json.dumps(QUICK.but(compare="seed", step=step).to_json()))
    state = TAB.usable(found)
    assert (state.step, state.left, state.running) == (0, step, True)
    for _ in range(100):
        if not state.running:
            break
        state = do(state, "more")
    assert (state.step, state.left, state.running) == (step, 0, False)
    for run in runs_of(state):
        assert learned(run, step).losses == tuple(alone(run, step).losses)


def test_what_is_remembered_need_not_be_trained_again(monkeypatch):
    state = trained(QUICK)
    taken, advance = [], LiveRun.advance
    monkeypatch.setattr(LiveRun, "advance", lambda run: taken.append(run) or advance(run))
    for step in (300, 200, 100, 0):
        found = TAB.usable(QUICK.but(step=step).to_json())
        assert (found.step, found.running) == (step, False)
        page_of(found)
        page_of(found.but(section="attention"))
        page_of(found.but(section="weight"))
    assert taken == []
    found = TAB.usable(state.but(step=250).to_json())
    assert found.running
    assert 200 <= found.step < 250


def test_what_was_forgotten_comes_out_the_same(monkeypatch):
    state = at(QUICK, 12)
    shown = TAB.view(state, "en")
    for cached in (learned, attended, opened):
        cached.cache_clear()
    monkeypatch.setattr(runs, "MEMORY", Memory())
    again = TAB.usable(state.to_json())
    while again.running:
        again = do(again, "more")
    assert TAB.view(again.but(ticket=""), "en") == shown


def test_memory_has_an_end_and_what_is_used_stays():
    one = Watched(LiveSettings(n_layer=1, n_embd=4, n_head=1))
    room = 3 * one.record().size + 1
    memory, settings = Memory(room), [LiveSettings(n_layer=1, n_embd=4, n_head=1, seed=n) for n in range(5)]  # fmt: skip
    for one in settings[:3]:
        memory.keep(Watched(one))
    memory.take(settings[0], 0)
    for one in settings[3:]:
        memory.keep(Watched(one))
    assert list(memory.records) == [settings[0], settings[3], settings[4]]
    assert memory.size() <= room
    watched = Watched(settings[0])
    for _ in range(90):
        watched.advance()
        memory.keep(watched)
    assert len(memory.records[settings[0]]) <= runs.KEPT + 2
    assert memory.known((settings[0],), 90) == 90
    assert memory.known((settings[0],), 20) == 0


def test_a_run_that_diverges_rests_and_says_why(monkeypatch):
    advance = Watched.advance

    def spoiled(watched):
        if watched.run.step == 2:
            with torch.no_grad():
                watched.run.gpt.ln_f.weight.fill_(float("inf"))
        advance(watched)

    monkeypatch.setattr(Watched, "advance", spoiled)
    state = do(at(QUICK, 2), "start", seed=4)
    assert (state.step, state.running) == (2, False)
    for lang, words in zip(LANGS, ("nan at step 3", "3번째 단계"), strict=True):
        assert words in page_of(state, lang).text
    with pytest.raises(PlaygroundError, match="at step 3"):
        do(state, "once")


def test_people_take_turns(monkeypatch):
    queue = turns.Queue(at_once=1)
    monkeypatch.setattr(runs, "work", lambda ticket, one: turns.work(ticket, one, queue=queue))
    first = do(QUICK, "start", seed=1)
    second = do(QUICK.but(seed=5), "start", seed=2)
    assert (first.place, second.place, second.step) == (0, 1, 0)
    assert "number 1 in the queue" in page_of(second).text
    queue.leave("1")
    assert do(second, "more").step > 0


def test_the_end_of_all_steps(monkeypatch):
    monkeypatch.setattr(runs.MEMORY, "known", lambda settings, step: step)
    with pytest.raises(PlaygroundError, match="2000"):
        do(QUICK.but(step=2000), "once")


# Attention


@pytest.mark.parametrize(("causal", "n_head"), [(True, "2"), (False, "2"), (True, "1")])
def test_attention_is_that_of_the_run_and_opens_to_its_sums(causal, n_head):
    state = at(QUICK.but(causal=causal, n_head=n_head), 6)
    state = do(set_(state, "section", "attention"), "enlarge", layer="1", head=n_head)
    run, flow = alone(first_of(state), 6), TAB.form.flow(state, "en")
    trace = []
    ids = run.task.rows(1_000_002, ASKED, 1)[:, :-1]
    run.gpt(ids, trace=trace)
    heads = trace[0].blocks[0].attn.heads
    for name in ("q", "k", "v", "scores", "scaled", "masked", "weights", "output"):
        theirs = getattr(heads, name)[0, int(n_head) - 1].detach().double()
        torch.testing.assert_close(flow.get(name).values, theirs, atol=1e-5, rtol=1e-5)
    assert flow.get("masked").shown == causal
    assert "".join(flow.facts["names"]) == run.task.decode(ids[0].tolist())
    for m in flow.matrices:
        for i, j in ((0, 0), (m.values.size(0) - 1, m.values.size(1) - 1)):
            assert explain(flow, m, i, j).parts, (m.name, i, j)
    page = page_of(do(state, "open", cell=["weights", 0, 7, 1]))
    assert len(list(page.all("canvas"))) == int(n_head)
    assert len(list(page.all("div", "glass"))) == 1


def test_the_second_run_can_be_looked_into():
    state = at(QUICK.but(compare="mask", section="attention"), 3)
    assert "∞" in TAB.view(state, "en")
    second = set_(state, "which", "2")
    assert bool((TAB.form.flow(second, "en").get("weights").values.triu(1) > 0).any())
    assert set_(second, "compare", "nothing").which == "1"
    one = set_(QUICK.but(compare="one_head", section="attention", head="2"), "which", "2")
    assert one.head == "1"


# One step


@pytest.mark.parametrize("name", ["wte.weight", "blocks.0.attn.c_attn.weight", "ln_f.bias"])
def test_a_step_of_a_weight_is_what_the_next_step_does(name):
    state = QUICK.but(section="weight", weight=name, row=3, col=5)
    for steps in (0, 4):
        state = at(state.but(step=0), steps)
        run = alone(first_of(state), steps)
        index = (3, 5) if run.weights[name].dim() == 2 else (3,)
        step = one_step(run, name, index)
        flow = TAB.form.flow(state, "en")
        before = [step.value, step.gradient, step.m_before, step.v_before]
        after = [step.m, step.v, step.m_hat, step.v_hat, step.new_value]
        assert flow.get("before").values.tolist() == [before]
        assert flow.get("after").values.tolist() == [after]
        run.advance()
        assert after[-1] == pytest.approx(run.weights[name][index].item(), abs=1e-6)
        slope, autograd = flow.get("difference").values[0, 2:].tolist()
        assert slope == pytest.approx(autograd, rel=1e-3, abs=1e-9)
        assert autograd == pytest.approx(step.gradient, abs=1e-5)


@pytest.mark.parametrize("steps", [0, 3])
def test_every_number_of_a_step_opens(steps):
    state = at(QUICK.but(section="weight"), steps)
    flow = TAB.form.flow(state, "en")
    for name, columns in (("before", 4), ("after", 5), ("difference", 4)):
        for j in range(columns):
            opened_state = do(state, "open", cell=[name, 0, 0, j])
            made = explain(flow, flow.get(name), 0, j)
            assert made.value == pytest.approx(flow.get(name).values[0, j].item(), rel=1e-9)
            assert bool(made.parts) == (name != "difference" or j == 2)
            assert len(list(page_of(opened_state, "ko").all("div", "glass"))) == 1


def test_small_numbers_show_the_figures_that_count():
    state = do(at(QUICK.but(section="weight"), 1), "open", cell=["after", 0, 0, 1])
    v = TAB.form.flow(state, "en").get("after").values[0, 1].item()
    assert 0 < v < 1e-3
    (glass,) = page_of(state).all("div", "glass")
    shown = float(re.search(r"= (0\.\d+)", glass.text)[1])
    assert shown == pytest.approx(v, rel=1e-2)


def test_a_click_chooses_a_weight():
    state = QUICK.but(section="weight", weight="blocks.0.mlp.c_fc.weight", row=17, col=2)
    chosen = do(state, "open", cell=["tensor", 0, 3, 4])
    assert (chosen.row, chosen.col, chosen.open) == (19, 4, ["after", 0, 0, 4])
    assert do(chosen, "open", cell=["gradient", 0, 0, 0]).row == 16
    bias = set_(chosen, "weight", "ln_f.bias")
    assert (bias.row, bias.col) == (7, 0)
    tensor = TAB.form.flow(chosen, "en").get("tensor")
    run = LiveRun(first_of(chosen))
    weights = run.weights["blocks.0.mlp.c_fc.weight"]
    torch.testing.assert_close(tensor.values, weights[16:24, :8].detach().double())
    assert tensor.rows == list(range(16, 24))


def test_a_keys_bias_has_no_gradient_and_that_is_said():
    state = at(QUICK.but(section="weight", weight="blocks.0.attn.c_attn.bias", row=9), 2)
    for lang, words in zip(LANGS, ("does not depend on", "달려 있지 않습니다"), strict=True):
        assert words in page_of(state, lang).text


def test_without_positions_their_tensor_is_not_offered():
    state = QUICK.but(section="weight", weight="wpe.weight")
    assert state == TAB.usable(state.to_json())
    off = set_(state, "positions", False)
    assert off.weight == "wte.weight"
    assert "wpe.weight" not in shapes(first_of(off))


# What cannot be


@pytest.mark.parametrize("text", ["", "too short", "".join(map(chr, range(0x4E00, 0x4F00)))])
@pytest.mark.parametrize("section", ["", "attention", "weight"])
def test_a_text_that_cannot_be_learned_stays_and_says_why(text, section):
    state = set_(TAB.form.example("your-text"), "text", text).but(section=section)
    state = TAB.usable(state.to_json())
    assert (state.text, state.step, state.running) == (text, 0, False)
    for lang in LANGS:
        assert next(page_of(state, lang).all("p", "notice")).text
    assert do(state, "start", seed=1).running is False
    mended = set_(state, "text", "A text that is long enough.")
    assert page_of(mended).all("svg")


@pytest.mark.parametrize(
    "text", ["a b\nc" * 8, "<b>&amp;</b> {x} ${y} " * 3, "👩‍👩‍👧 e\u0301 " * 8]
)
def test_any_text_is_shown_as_it_is(text):
    state = at(set_(TAB.form.example("your-text"), "text", text), 1)
    assert state.text == text
    for section in ("learning", "attention", "weight"):
        page_of(set_(state, "section", section))


def test_a_text_too_long_is_refused_and_the_one_before_stays():
    reply = act({
        "tab": "training",
        "lang": "ko",
        "state": TAB.form.example("your-text").to_json(),
        "actions": [{"do": "set", "key": "text", "value": "가" * 2001}],
    })  # fmt: skip
    assert "2001" in reply["notice"]
    assert reply["state"]["text"].startswith("The cat")


@pytest.mark.parametrize(("key", "text"), [("rate", "0"), ("rate", "1"), ("rate", "x"), ("seed", "-1"), ("seed", "1.5")])  # fmt: skip
def test_a_number_that_cannot_be_used_stays_with_its_message(key, text):
    state = set_(QUICK, key, text)
    assert getattr(state, key) == getattr(QUICK, key)
    assert state.bad == {f"set:{key}": text}
    assert len(list(page_of(state, "ko").all("span", "msg"))) == 1


def test_heads_that_do_not_fit_the_width_are_made_to():
    assert set_(TrainingState(n_head="8"), "n_embd", "4").n_head == "4"
    assert set_(TrainingState(n_embd="4", n_head="4"), "n_head", "8").n_head == "4"


@pytest.mark.parametrize(
    "found",
    [
        {"task": "multiply"},
        {"text": "x" * 2001},
        {"n_embd": "17"},
        {"n_head": "3"},
        {"n_layer": 2},
        {"rate": 0.0},
        {"rate": 0.5},
        {"step": 2001},
        {"step": -1},
        {"left": 2001},
        {"compare": "everything"},
        {"weight": 5},
        {"row": 256},
        {"which": "3"},
        {"layer": "0"},
        {"head": "9"},
    ],
)
def test_a_link_that_cannot_be_is_refused(found):
    with pytest.raises(PlaygroundError):
        TAB.usable(found)


def test_links_with_places_that_are_not_there_are_mended():
    found = {"layer": "4", "head": "8", "weight": "nothing", "row": 255, "col": 255, "left": 2000}
    state = TAB.usable(found)
    assert (state.layer, state.head, state.weight) == ("2", "4", "wte.weight")
    assert (state.row, state.col, state.left) == (8, 15, 2000)
    assert TAB.usable({"open": ["tensor", 0, 60, 60], "section": "weight"}).row == 8


@pytest.mark.parametrize("action", [{"do": "enlarge"}, {"do": "enlarge", "layer": "9", "head": "1"}, {"do": "set", "key": "step", "value": 5}])  # fmt: skip
def test_what_no_button_asks_is_refused(action):
    with pytest.raises(PlaygroundError):
        TAB.apply(QUICK, action)


def test_a_state_stays_small_and_comes_back():
    state = trained(QUICK.but(compare="mask"))
    text = json.dumps(state.to_json())
    assert len(text) < 300
    assert TAB.usable(json.loads(text)) == state
