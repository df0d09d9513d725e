"""Two processes that share every batch do what one does alone."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from model import TrainingConfig
from model.batches import in_turn, separate_texts, tutored, windows
from model.errors import ShareError
from model.ngram import NgramModel
from model.processes import Processes
from model.training import train
from model.training_state import TrainingState
from tests.conftest import ROOT
from tests.model.small import small_gpt

IDS = torch.randint(19, (200,), generator=torch.Generator().manual_seed(1))

TEXTS = [[18, *range(n)] for n in range(2, 16)]

SCRIPT = """
import json, os, sys
from pathlib import Path
import torch
sys.path.insert(0, sys.argv[1])
from tests.model.test_processes import numbers
torch.set_num_threads(1)
out = Path(sys.argv[2])
rank = os.environ["RANK"]
found = numbers(out / "state")
(out / f"{rank}.json").write_text(json.dumps(found))
"""


def numbers(folder: Path, batch_size: int = 4) -> dict[str, list[float]]:
    """A short run: its losses, its tokens, its held-out losses and the weights it ends with."""
    gpt = small_gpt()
    short = separate_texts(
        TEXTS, 8, batch_size, seed=2
    )  # the shares count unlike numbers of tokens
    tutor = NgramModel(TEXTS, 19, 3)
    config = TrainingConfig(steps=9, warmup_steps=2, evaluate_every=4, learning_rate=0.01)

    def evaluate(asked: torch.nn.Module) -> float:
        with torch.no_grad():
            return asked(IDS[None, :8]).logsumexp(dim=-1).mean().item()

    steps = list(
        train(
            gpt,
            in_turn([windows(IDS, 8, batch_size, seed=2), short, tutored(short, tutor, 0.5)]),
            config,
            evaluate=evaluate,
            state=TrainingState(folder),
        )
    )
    return {
        "losses": [step.loss for step in steps],
        "tokens": [step.tokens for step in steps],
        "held out": [step.val_loss for step in steps if step.val_loss is not None],
        "logits": gpt(IDS[None, :8]).flatten().tolist(),
    }


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, list[float]]]:
    """What each of two processes found, started by torchrun, joined by gloo."""
    out = tmp_path_factory.mktemp("two")
    script = out / "script.py"
    script.write_text(SCRIPT)
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    done = subprocess.run(
        [*torchrun, "--nproc-per-node", "2", str(script), str(ROOT), str(out)],
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads((out / f"{rank}.json").read_text()) for rank in (0, 1)]


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[float]]:
    return numbers(tmp_path_factory.mktemp("one"))


@pytest.mark.parametrize("what", ["losses", "held out"])
def test_two_processes_find_the_losses_of_one(one, two, what):
    for found in two:
        torch.testing.assert_close(found[what], one[what], atol=1e-10, rtol=0)
    assert len(set(one[what])) == len(one[what]) > 2


def test_two_processes_end_with_one_model(one, two):
    assert two[0]["logits"] == two[1]["logits"]
    torch.testing.assert_close(two[0]["logits"], one["logits"], atol=1e-8, rtol=0)


def test_tokens_of_both_are_counted(one, two):
    assert [found["tokens"] for found in two] == [one["tokens"]] * 2


def test_shares_are_the_whole_batch_and_nothing_twice():
    batch = torch.arange(24).view(6, 4)
    shares = [Processes(rank, 3, 0).share(batch) for rank in range(3)]
    assert [len(share) for share in shares] == [2, 2, 2]
    assert torch.equal(torch.cat(shares), batch)


@pytest.mark.parametrize(("rows", "count"), [(3, 2), (1, 2), (8, 3)])
def test_a_batch_that_does_not_divide_is_refused(rows, count):
    with pytest.raises(ShareError) as caught:
        Processes(0, count, 0).share(torch.zeros(rows, 4))
    assert caught.value.values == {"batch": rows, "count": count}


def test_no_two_processes_and_steps_drop_the_same_numbers():
    seeds = [
        Processes(rank, 2, base).seed(step)
        for base in (1, 2)
        for rank in (0, 1)
        for step in range(50)
    ]
    assert len(set(seeds)) == len(seeds)


def test_without_torchrun_there_is_one_process_and_no_group():
    alone = Processes.started(5, torch.device("cpu"))
    assert (alone.rank, alone.count, alone.first) == (0, 1, True)
    assert not torch.distributed.is_initialized()
    gpt = small_gpt()
    assert alone.wrap(gpt) is gpt
    assert alone.mean(torch.tensor(2.5)) == 2.5
    alone.finish()
