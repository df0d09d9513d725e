"""The encoder–decoder tab: its numbers beside the run's own, its training in turns, its examples."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

from model.errors import PlaygroundError
from model.plus_two import PRINTED, RECIPES, PlusTwoRun, constant_loss, off
from playground import turns
from playground.encoder_decoder import look as looking
from playground.encoder_decoder import runs
from playground.encoder_decoder.look import UNSEEN
from playground.encoder_decoder.runs import Memory, next_pause, run_at
from playground.encoder_decoder.state import MOST, WHERE, EncoderDecoderState
from playground.explain import explain
from playground.stage import act
from playground.tabs.encoder_decoder import TAB
from tests.playground.html_tree import read

EXAMPLES = [e.name for e in TAB.form.examples]
LANGS = ("en", "ko")
DOWN = [[50.0, 40.0, 30.0, 20.0, 10.0]]


@pytest.fixture(autouse=True)
def memory(monkeypatch):
    """Nothing is remembered from another test, and nobody else stands in the queue."""
    fresh, queue = Memory(), turns.Queue()
    monkeypatch.setattr(runs, "MEMORY", fresh)
    monkeypatch.setattr(runs, "work", lambda ticket, step: turns.work(ticket, step, queue=queue))
    looking.stand.cache_clear()
    looking.looked.cache_clear()
    return fresh


def example(name):
    return TAB.form.example(name)


def do(state, name, /, **fields):
    return TAB.apply(state, {"do": name, **fields})


def set_(state, key, value):
    return do(state, "set", key=key, value=value)


def shown(state, name):
    return TAB.form.flow(state, "en").get(name).values


def steps(state, n):
    """The state `n` training steps on, one by one."""
    for _ in range(n):
        state = do(state, "once")
    return state


def run_on(state):
    """Turn by turn, as the page asks, to where training pauses."""
    for _ in range(MOST):
        if not state.running:
            return state
        state = do(state, "more")
    raise AssertionError("it never pauses")


def short(name, left=6):
    """An example that trains by itself, cut to a few steps."""
    state = example(name)
    return state.but(left=left) if state.running else state


# The numbers


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("lang", LANGS)
def test_an_example_is_shown_in_both_languages(name, lang):
    state = run_on(short(name))
    reply = act({"tab": "encoder-decoder", "lang": lang, "state": state.to_json()})
    assert reply["notice"] == ""
    assert reply["state"] == state.to_json()
    page = read(reply["html"])
    assert len(list(page.all("div", "glass"))) == 1
    for control in [*page.all("select"), *page.all("input")]:
        labelled = any(control in label.all() for label in page.all("label"))
        assert labelled or "aria-label" in control.attributes


@pytest.mark.parametrize("recipe", RECIPES)
def test_the_answers_are_those_of_the_run(recipe):
    state = steps(set_(EncoderDecoderState(numbers=DOWN, seed=3), "recipe", recipe), 4)
    run = PlusTwoRun(recipe, 3)
    for _ in range(4):
        run.advance()
    src = torch.tensor(DOWN)
    for name, answers in (("forced", run.forced(src)), ("free", run.free(src))):
        torch.testing.assert_close(shown(state, name).float(), answers, atol=1e-3, rtol=0)
        torch.testing.assert_close(
            shown(state, f"{name}_off").float(), answers - src - 2, atol=1e-3, rtol=0
        )
    assert shown(state, "right").tolist() == [[52, 42, 32, 22, 12]]
    assert shown(state, "forced_tgt").tolist() == [[0, 52, 42, 32, 22]]
    assert shown(state, "free_tgt")[0, 1:].tolist() == shown(state, "free")[0, :-1].tolist()


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("section", TAB.form.sections)
def test_every_number_opens(recipe, section):
    state = steps(set_(EncoderDecoderState(), "recipe", recipe), 2).but(section=section)
    views = [state]
    if section == "attention":
        views = [
            state.but(where=where, layer=layer, head=head, fed=fed)
            for where in WHERE
            for layer, head, fed in (("1", "2", "right"), ("2", "1", "own"))
        ]
    for view in views:
        flow = TAB.form.flow(view, "en")
        for m in flow.matrices:
            if m.kind == "input":
                continue
            for i, row in enumerate(m.values.tolist()):
                for j, value in enumerate(row):
                    assert explain(flow, m, i, j).parts, f"{m.name}[{i}, {j}] = {value} has no sum"


@pytest.mark.parametrize("fed", ["right", "own"])
def test_the_attention_is_the_models(fed):
    state = steps(EncoderDecoderState(seed=2), 3).but(section="attention", fed=fed)
    run = run_at(("as_printed", 2, 0.001), 3)
    src, tgt = (
        PRINTED,
        shown(state.but(section="training"), f"{'forced' if fed == 'right' else 'free'}_tgt"),
    )
    trace = run.trace(src, tgt.float())
    for layer in (0, 1):
        for head in (0, 1):
            for where, made in (
                ("encoder", trace.encoder[layer].attn),
                ("decoder", trace.decoder[layer].attn),
                ("cross", trace.decoder[layer].cross),
            ):
                one = do(state, "enlarge", where=where, layer=str(layer + 1), head=str(head + 1))
                weights = made.heads.weights[0, head]
                torch.testing.assert_close(
                    shown(one, "weights").float(), weights, atol=1e-4, rtol=0
                )
                output = made.heads.output[0, head]
                torch.testing.assert_close(
                    shown(one, "output").float(), output, atol=1e-3, rtol=1e-3
                )
    pictures = list(read(TAB.view(state, "ko")).all("canvas"))
    assert len(pictures) == 12


def test_the_causal_mask_is_shown_where_there_is_one():
    state = EncoderDecoderState(section="attention")
    for where, masked in (("encoder", False), ("decoder", True), ("cross", False)):
        flow = TAB.form.flow(state.but(where=where), "en")
        assert flow.get("masked").shown == masked
        hidden = flow.get("weights").values.triu(1)
        assert bool((hidden == 0).all()) == masked


def test_the_loss_stands_beside_what_a_shortcut_costs():
    state = steps(EncoderDecoderState(), 3)
    found = looking.look(state).stand
    assert list(found.run.losses) == trained("as_printed", 1, 3).losses
    page = TAB.view(state, "en")
    assert constant_loss() == 200
    assert "always 32" in page
    assert "nothing added" in TAB.view(steps(set_(state, "recipe", "mended"), 1), "en")
    assert found.forced == pytest.approx(off(found.run.forced(UNSEEN), UNSEEN))
    assert found.free == pytest.approx(off(found.run.free(UNSEEN), UNSEEN))


def trained(recipe, seed, count):
    run = PlusTwoRun(recipe, seed)
    for _ in range(count):
        run.advance()
    return run


def test_positions_are_the_models_own():
    state = EncoderDecoderState(section="positions")
    run = PlusTwoRun("as_printed", 1)
    torch.testing.assert_close(shown(state, "table"), run.model.positions)
    x = run.trace(PRINTED, torch.zeros(1, 1)).encoder[0].resid_pre[0]
    torch.testing.assert_close(shown(state, "embedded").float(), x, atol=1e-4, rtol=0)
    table = shown(state, "table")
    torch.testing.assert_close(shown(state, "dots"), table @ table.T)


# Training in turns


def test_a_press_trains_to_the_recipes_end_and_the_next_goes_on(monkeypatch):
    monkeypatch.setitem(RECIPES, "as_printed", short_recipe("as_printed", 9))
    state = do(EncoderDecoderState(), "start", seed=7)
    state = run_on(state)
    assert (state.step, state.left, state.running) == (9, 0, False)
    assert looking.look(state).stand.run.losses == trained("as_printed", 1, 9).losses
    assert next_pause(state) == 800
    assert next_pause(state.but(step=800)) == MOST
    further = do(state, "start", seed=8)
    assert further.step > 9
    assert further.step + further.left == 800


def short_recipe(name, count):
    recipe = RECIPES[name]
    return type(recipe)(**{**vars(recipe), "steps": count})


def test_paused_and_gone_on_it_is_the_same_training():
    state = do(EncoderDecoderState(left=8), "start", seed=1).but(running=True)
    paused = do(state, "stop")
    assert do(paused, "more") == paused
    one = steps(paused, 1)
    assert one.step == paused.step + 1
    assert looking.look(one).stand.run.losses == trained("as_printed", 1, one.step).losses


def test_a_link_brings_its_training_back(memory):
    state = steps(EncoderDecoderState(seed=6), 5)
    answers = shown(state, "free")
    memory.states.clear()  # another server, or a restart
    looking.stand.cache_clear()
    looking.looked.cache_clear()
    found = TAB.usable(json.loads(json.dumps(state.to_json())))
    assert (found.step, found.left, found.running) == (0, 5, True)
    back = run_on(found)
    assert (back.step, back.running) == (5, False)
    assert torch.equal(shown(back, "free"), answers)


def test_what_is_forgotten_between_two_requests_is_computed_anew(memory):
    state = steps(EncoderDecoderState(seed=6), 3)
    memory.states.clear()
    assert run_at(("as_printed", 6, 0.001), 3).losses == trained("as_printed", 6, 3).losses
    assert shown(state, "free").shape == (1, 5)


def test_memory_holds_the_latest_and_the_milestones():
    room = Memory(room=4)
    training = ("mended", 1, 0.002)
    run = trained("mended", 1, 2)
    room.keep(training, run, since=0)
    run.advance()
    room.keep(training, run, since=2)
    assert [step for _, step in room.states] == [3]
    run.advance()
    room.keep(training, run, since=250)  # a milestone stays, here as if it stood at 3
    assert room.last_known(training, 3) == 3
    assert room.last_known(training, 99) == 4
    assert room.last_known(("mended", 2, 0.002), 99) == 0
    for seed in range(10):
        room.keep(("mended", seed, 0.1), run, since=1)
    assert len(room.states) == 4


def test_people_with_the_same_training_do_not_disturb_each_other():
    def one(first):
        state = steps(EncoderDecoderState(seed=9), first)
        return looking.look(steps(state, 2)).stand.run.losses

    expected = trained("as_printed", 9, 9).losses
    with ThreadPoolExecutor(3) as pool:
        for losses in pool.map(one, (1, 4, 7)):
            assert losses == expected[: len(losses)]


def test_one_who_waits_trains_nothing(monkeypatch):
    monkeypatch.setattr(runs, "work", lambda ticket, step: 2)
    state = do(EncoderDecoderState(), "start", seed=4)
    assert (state.step, state.place, state.running) == (0, 2, True)
    assert 'data-wait="' in TAB.view(state, "ko")


def test_at_the_last_step_it_says_so():
    state = EncoderDecoderState(step=MOST)
    with pytest.raises(PlaygroundError, match=str(MOST)):
        runs.once(state, {})


@pytest.mark.parametrize(("key", "value"), [("seed", "2"), ("rate", "0.005"), ("recipe", "mended")])
def test_another_training_begins_at_the_beginning(key, value):
    state = steps(EncoderDecoderState(numbers=DOWN), 2)
    after = set_(state, key, value)
    assert (after.step, after.left, after.running) == (0, 0, False)
    assert after.numbers == DOWN
    assert after.rate == {"rate": 0.005, "recipe": 0.002}.get(key, 0.001)
    back = set_(after, key, getattr(state, key))
    assert (back.recipe, back.seed, back.rate) == (state.recipe, state.seed, state.rate)


def test_handlers_leave_everybodys_random_numbers_alone():
    before = torch.get_rng_state()
    TAB.view(run_on(short("free-running")), "en")
    assert torch.equal(torch.get_rng_state(), before)


# What a person types


def test_a_sequence_of_ones_own_keeps_the_training():
    state = steps(EncoderDecoderState(), 2)
    after = do(state, "cell", matrix="numbers", head=0, row=0, col=0, text="12")
    assert after.numbers == [[12, 20, 30, 40, 50]]
    assert after.step == 2
    pasted = do(after, "paste", matrix="numbers", row=0, col=0, text="1\t2\t3\t4\t5")
    assert pasted.numbers == [[1, 2, 3, 4, 5]]


@pytest.mark.parametrize("lang", LANGS)
def test_what_is_no_number_stays_with_its_message(lang):
    state = do(EncoderDecoderState(), "cell", matrix="numbers", head=0, row=0, col=1, text="ten")
    assert state.numbers == PRINTED.tolist()
    page = read(TAB.view(state, lang))
    (message,) = page.all("span", "msg")
    assert "ten" in message.text


@pytest.mark.parametrize("key", ["seed", "rate"])
def test_a_setting_that_cannot_be_stays_with_its_message(key):
    state = set_(EncoderDecoderState(), key, "-1")
    assert getattr(state, key) == getattr(EncoderDecoderState(), key)
    for lang in LANGS:
        assert len(list(read(TAB.view(state, lang)).all("span", "msg"))) == 1


@pytest.mark.parametrize(
    "found",
    [
        {"numbers": [[1, 2, 3, 4]]},
        {"numbers": [[1, 2, 3, 4, 5], [1, 2, 3, 4, 5]]},
        {"numbers": [[1, 2, 3, 4, "5"]]},
        {"recipe": "other"},
        {"step": MOST + 1},
        {"step": True},
        {"rate": 1.0},
        {"where": "memory"},
        {"layer": "3"},
        {"head": 1},
        {"fed": None},
        {"first": 128},
    ],
)
def test_a_state_that_cannot_be_is_refused(found):
    with pytest.raises(PlaygroundError) as told:
        TAB.usable(found)
    assert told.value.text("ko") != told.value.text("en")


@pytest.mark.parametrize("numbers", [[[1e6, -1e6, 1e6, -1e6, 1e6]], [[0.0] * 5], [[7.0] * 5]])
@pytest.mark.parametrize("section", TAB.form.sections)
def test_any_five_numbers_can_be_asked(numbers, section):
    state = TAB.usable({"numbers": numbers, "section": section})
    for lang in LANGS:
        assert "NaN" not in TAB.view(state, lang)


def test_a_table_as_a_file():
    rows = TAB.csv(EncoderDecoderState(), "ko", "forced", 0)
    assert len(rows) == 1
    assert rows[0] == shown(EncoderDecoderState(), "forced")[0].tolist()
