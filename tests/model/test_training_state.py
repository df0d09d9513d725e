"""Evaluation, the best weights and early stopping; a run killed between two saves goes on as if it had not been."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors import safe_open

from model import GPT, TrainingConfig, training_state
from model.batches import windows
from model.errors import StateError
from model.training import Step, train
from model.training_state import TrainingState
from tests.model.small import small_gpt

IDS = torch.randint(19, (200,), generator=torch.Generator().manual_seed(1))
OPTIMIZERS = pytest.mark.parametrize("optimizer", ["adamw", "muon"])


def run(gpt: GPT, state: TrainingState | None = None, *, evaluate=None, sample=None, **options):
    """Twelve steps, an evaluation every third."""
    config = TrainingConfig(
        **{"steps": 12, "warmup_steps": 2, "evaluate_every": 3, "learning_rate": 0.01, **options}
    )
    return train(
        gpt, windows(IDS, 8, 4, seed=2), config, evaluate=evaluate, sample=sample, state=state
    )


def held_out(gpt: GPT) -> float:
    """A stand-in for a loss: the size of the first weights, to 12 digits."""
    return round(gpt.wte.weight.square().mean().item(), 12)


# Evaluation, the best weights, stopping early


def test_evaluation_now_and_then_and_at_the_end():
    gpt, modes = small_gpt(dropout=0.5), []

    def evaluate(asked: GPT) -> float:
        modes.append((asked is gpt, asked.training))
        return 1.0 / len(modes)

    seen = {}
    options = {"steps": 10, "evaluate_every": 4}
    for step in run(gpt, evaluate=evaluate, sample=lambda _: "a sample", **options):
        assert gpt.training
        seen[step.step] = (step.val_loss, step.sample)
    assert modes == [(True, False)] * 3
    assert {n: found for n, found in seen.items() if found != (None, None)} == {
        4: (1.0, "a sample"),
        8: (0.5, "a sample"),
        10: (1 / 3, "a sample"),
    }
    assert not gpt.training


def scripted(values: list[float], patience: int):
    """A run whose held-out losses are `values`: its steps, the model, its weights at each evaluation."""
    gpt, weights, left = small_gpt(), [], iter(values)

    def evaluate(asked: GPT) -> float:
        weights.append([p.detach().clone() for p in asked.parameters()])
        return next(left)

    state = TrainingState()
    options = {"steps": 2 * len(values), "evaluate_every": 2, "patience": patience}
    steps = list(run(gpt, state, evaluate=evaluate, **options))
    return steps, gpt, weights, state


@pytest.mark.parametrize(
    ("values", "patience", "evaluations", "best"),
    [
        ([3.0, 2.0, 2.5, 2.0, 1.0, 1.0], 2, 4, 1),  # an equal loss is no better
        ([3.0, 2.0, 2.5, 1.5, 2.5, 2.6], 2, 6, 3),
        ([1.0, 2.0, 3.0, 4.0], 9, 4, 0),
        ([4.0, 3.0, 2.0, 1.0], 1, 4, 3),
        ([2.0, float("nan"), 3.0], 9, 3, 0),
    ],
)
def test_the_best_weights_are_taken_and_patience_ends(values, patience, evaluations, best):
    steps, gpt, weights, state = scripted(values, patience)
    assert len(steps) == 2 * evaluations == state.step
    assert state.best_loss == values[best]
    for n, there in enumerate(weights):
        same = [torch.equal(p, q) for p, q in zip(gpt.parameters(), there, strict=True)]
        assert all(same) if n == best else not any(same)
    assert [point.step for point in state.curve] == [2 * n + 2 for n in range(evaluations)]
    assert [point.loss for point in state.curve] == [
        steps[2 * n + 1].loss for n in range(evaluations)
    ]


# Resuming


def dropping(seed: int) -> GPT:
    return small_gpt(seed=seed, dropout=0.3)


@OPTIMIZERS
@pytest.mark.parametrize("killed_after", [3, 5, 11])
def test_a_run_killed_between_saves_goes_on_as_if_it_had_not_been(
    tmp_path, optimizer, killed_after
):
    options = {"evaluate": held_out, "optimizer": optimizer}
    whole, unbroken = dropping(1), TrainingState()
    expected = list(run(whole, unbroken, **options))

    list(itertools.islice(run(dropping(1), TrainingState(tmp_path), **options), killed_after))
    torch.manual_seed(99)  # another process has another past
    again, state = dropping(2), TrainingState(tmp_path)
    rest = list(run(again, state, **options))
    saved = killed_after // 3 * 3
    assert [step.step for step in rest] == list(range(saved + 1, 13))
    for step, there in zip(rest, expected[saved:], strict=True):
        assert facts(step) == facts(there)
    for p, q in zip(again.parameters(), whole.parameters(), strict=True):
        assert torch.equal(p, q)
    assert (state.curve, state.best_loss) == (unbroken.curve, unbroken.best_loss)
    assert (state.tokens, state.since_best) == (unbroken.tokens, unbroken.since_best)


def facts(step: Step) -> tuple[object, ...]:
    """All of a step but its speed."""
    return step.step, step.loss, step.learning_rate, step.tokens, step.val_loss


CHILD = """
import os, signal, sys
from pathlib import Path
import torch
from tests.model.test_training_state import TrainingState, dropping, held_out, run
torch.set_num_threads(1)  # as here
for step in run(dropping(1), TrainingState(Path(sys.argv[1])), evaluate=held_out):
    if step.step == 8:
        os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_process_killed_by_a_signal_leaves_a_state_to_go_on_from(tmp_path):
    child = subprocess.run([sys.executable, "-c", CHILD, str(tmp_path)], check=False)
    assert child.returncode == -signal.SIGKILL
    expected = list(run(dropping(1), evaluate=held_out))
    rest = list(run(dropping(2), TrainingState(tmp_path), evaluate=held_out))
    assert [facts(step) for step in rest] == [facts(step) for step in expected[6:]]


def test_a_finished_run_has_nothing_left_to_do_and_gives_its_best(tmp_path):
    gpt, again = dropping(1), dropping(2)
    list(run(gpt, TrainingState(tmp_path), evaluate=held_out))
    state = TrainingState(tmp_path)
    assert list(run(again, state, evaluate=held_out)) == []
    assert (state.step, state.tokens, len(state.curve)) == (12, 12 * 4 * 8, 4)
    for p, q in zip(again.parameters(), gpt.parameters(), strict=True):
        assert torch.equal(p, q)


def test_a_run_killed_while_saving_keeps_the_state_before(tmp_path, monkeypatch):
    list(itertools.islice(run(dropping(1), TrainingState(tmp_path), evaluate=held_out), 3))
    whole = (tmp_path / "state.safetensors").read_bytes()

    def cut_off(tensors: object, path: Path, metadata: object) -> None:
        path.write_bytes(whole[: len(whole) // 2])
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(training_state, "save_file", cut_off)
        with pytest.raises(KeyboardInterrupt):
            list(run(dropping(1), TrainingState(tmp_path), evaluate=held_out))
    assert (tmp_path / "state.safetensors").read_bytes() == whole
    rest = list(run(dropping(2), TrainingState(tmp_path), evaluate=held_out))
    assert [step.step for step in rest] == list(range(4, 13))


def test_the_state_is_plain_tensors_and_json(tmp_path):
    list(run(dropping(1), TrainingState(tmp_path), evaluate=held_out))
    assert os.listdir(tmp_path) == ["state.safetensors"]
    with safe_open(tmp_path / "state.safetensors", "pt") as file:
        assert file.metadata()["numbers"].startswith('{"about": {}, "step": 12,')
        assert "now.blocks.0.attn.c_attn.weight" in set(file.keys())


def test_without_a_folder_nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    list(run(dropping(1), TrainingState(), evaluate=held_out))
    assert os.listdir(tmp_path) == []


# What does not fit


@pytest.fixture
def saved(tmp_path):
    """The folder of a run of three steps."""
    list(run(small_gpt(), TrainingState(tmp_path), evaluate=held_out, steps=3))
    return tmp_path


def refused(folder: Path, gpt: GPT, **options: object) -> str:
    """The sentence of the refusal."""
    with pytest.raises(StateError) as caught:
        next(run(gpt, TrainingState(folder), evaluate=held_out, **options))
    for lang in ("en", "ko"):
        text = caught.value.text(lang)
        assert str(folder) in text
        assert "\n" not in text
    return str(caught.value)


@pytest.mark.parametrize(
    "sizes",
    [{"n_embd": 14}, {"n_layer": 3}, {"n_layer": 1}, {"vocab_size": 20}, {"bias": False}],
    ids=str,
)
def test_the_state_of_another_model_is_refused(saved, sizes):
    refused(saved, small_gpt(**sizes))


def test_the_state_of_another_optimizer_is_refused(saved):
    assert "Muon + AdamW" in refused(saved, small_gpt(), optimizer="muon")


@pytest.mark.parametrize("damage", ["cut", "empty", "text", "no numbers"])
def test_a_damaged_state_is_refused(saved, damage):
    path = saved / "state.safetensors"
    if damage == "no numbers":
        training_state.save_file({"now.wte.weight": torch.zeros(19, 12)}, path)
    else:
        whole = path.read_bytes()
        path.write_bytes({"cut": whole[:-9], "empty": b"", "text": b"hello" * 99}[damage])
    refused(saved, small_gpt())


def test_a_state_about_something_else_is_refused(tmp_path):
    about = {"text": "abc", "rate": "0.1"}
    list(run(small_gpt(), TrainingState(tmp_path, about), evaluate=held_out))
    assert not list(run(small_gpt(), TrainingState(tmp_path, about), evaluate=held_out))  # done
    for other, reason in (
        ({**about, "text": "abd"}, "text abc ≠ abd"),
        ({**about, "new": "1"}, "new None ≠ 1"),
        ({}, "rate 0.1 ≠ None"),
    ):
        with pytest.raises(StateError, match=reason):
            next(run(small_gpt(), TrainingState(tmp_path, other), evaluate=held_out))
