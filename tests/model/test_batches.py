"""What a step reads: windows of a long text, rows of short ones, a tutor and what it makes up."""

from __future__ import annotations

from collections import Counter

import pytest
import torch

from model import TrainingConfig, train
from model.batches import in_turn, separate_texts, tutored, windows
from model.errors import ShortTextError
from model.gpt import n_counted, next_token_loss
from model.ngram import NgramModel
from tests.model.small import small_gpt

IDS = torch.randint(19, (200,), generator=torch.Generator().manual_seed(1))
START, END = 18, 17
TEXTS = [[START, *(torch.arange(n) % 18).tolist()] for n in range(2, 14)]


# Windows of a long text


def test_windows_are_the_text_and_targets_come_one_later():
    text = torch.arange(30)
    batch, starts = windows(text, block_size=5, batch_size=8, seed=1), set()
    for step in range(60):
        idx, targets = batch(step)
        assert idx.shape == targets.shape == (8, 5)
        assert torch.equal(targets, idx + 1)
        assert torch.equal(idx, idx[:, :1] + torch.arange(5))
        starts |= set(idx[:, 0].tolist())
    assert starts == set(range(25))  # the first and the last window as well


def test_a_step_has_its_own_batch_whenever_it_is_asked():
    one, other = (windows(IDS, 8, 4, seed=2) for _ in range(2))
    assert torch.equal(one(3)[0], other(3)[0])
    drawn = {
        tuple(windows(IDS, 8, 4, seed)(step)[0].flatten().tolist())
        for seed in range(5)
        for step in range(20)
    }
    assert len(drawn) == 100


def test_a_text_no_longer_than_a_window_is_refused():
    with pytest.raises(ShortTextError) as caught:
        windows(IDS[:8], 8, 4, seed=1)
    assert caught.value.values == {"found": 8, "needed": 9}
    assert windows(IDS[:9], 8, 4, seed=1)(0)[0].tolist() == [IDS[:8].tolist()] * 4


# Rows of short texts


def batches(**options: int):
    return separate_texts(TEXTS, **{"block_size": 8, "batch_size": 4, "seed": 3, **options})


def test_rows_are_texts_from_their_beginning():
    with_start = Counter()
    for step in range(40):
        idx, targets = batches()(step)
        assert idx.shape == targets.shape
        assert len(idx) == 4
        assert idx.size(1) <= 8
        for row, wanted in zip(idx.tolist(), targets.tolist(), strict=True):
            n = sum(target != -100 for target in wanted)
            assert wanted[n:] == [-100] * (len(wanted) - n)
            assert row[n:] == [0] * (len(row) - n)
            with_start[row[0] == START] += 1
            text = row[:n] + wanted[n - 1 : n]
            whole = text if row[0] == START else [START, *text]
            assert wanted[: n - 1] == row[1:n]
            assert any(known[: len(whole)] == whole for known in TEXTS)
    assert set(with_start) == {True, False}


def test_every_text_comes_up_and_the_same_step_gives_the_same_batch():
    lengths = Counter()
    for step in range(400):
        idx, targets = batches(block_size=99)(step)
        again = batches(block_size=99)(step)
        assert torch.equal(idx, again[0])
        assert torch.equal(targets, again[1])
        skipped = int(idx[0, 0] != START)
        lengths.update((targets != -100).sum(1).add(1 + skipped).tolist())
    assert set(lengths) == {len(text) for text in TEXTS}
    assert max(lengths.values()) < 3 * min(lengths.values())  # the longest and shortest too


def test_what_is_filled_in_is_not_learned():
    """A text alone and the same beside longer ones: one loss, one gradient."""
    torch.manual_seed(0)
    gpt = small_gpt()
    found = []
    for filled in (5, 8):
        idx, targets = torch.zeros(1, filled, dtype=torch.long), torch.full((1, filled), -100)
        idx[0, :5], targets[0, :5] = torch.arange(5), torch.arange(1, 6)
        gpt.zero_grad()
        loss = next_token_loss(gpt(idx), targets)
        loss.backward()
        found.append([loss.detach(), *(p.grad.clone() for p in gpt.parameters())])
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(one, other)


# A tutor


def test_chances_as_targets(exact):
    """All of one token is that token; a mixture costs the mixture of the costs; nothing is nothing."""
    logits = exact.normal(1, 3, 5)
    ids = torch.tensor([[1, 4, -100]])
    one_hot = torch.zeros(1, 3, 5, dtype=torch.float64)
    one_hot[0, 0, 1] = one_hot[0, 1, 4] = 1
    assert next_token_loss(logits, one_hot).item() == pytest.approx(
        next_token_loss(logits, ids).item()
    )
    assert n_counted(one_hot) == n_counted(ids) == 2
    half = one_hot / 2
    half[0, 0, 2] = half[0, 1, 0] = 0.5
    other = next_token_loss(logits, torch.tensor([[2, 0, -100]]))
    expected = (next_token_loss(logits, ids) + other) / 2
    assert next_token_loss(logits, half).item() == pytest.approx(expected.item())


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_a_tutor_softens_targets(share):
    tutor = NgramModel(TEXTS, 19, 3)
    idx, soft = tutored(batches(), tutor, share)(7)
    same, targets = batches()(7)
    assert torch.equal(idx, same)
    expected = tutor.expected(idx)
    for b, row in enumerate(targets.tolist()):
        for t, target in enumerate(row):
            if target == -100:
                assert not soft[b, t].any()
                continue
            by_hand = share * expected[b, t]
            by_hand[target] += 1 - share
            torch.testing.assert_close(soft[b, t], by_hand)


def test_a_model_learns_from_a_tutor_alone():
    """Its loss falls to the tutor's own uncertainty, which no model can go below."""
    tutor = NgramModel(TEXTS, 19, 3)
    batch = tutored(batches(), tutor, 1.0)
    gpt = small_gpt()
    gaps = []
    for step in train(gpt, batch, TrainingConfig(steps=150, learning_rate=0.02, warmup_steps=5)):
        _, soft = batch(step.step - 1)
        entropy = -torch.special.xlogy(soft, soft).sum() / n_counted(soft)
        gaps.append(step.loss - entropy.item())
    assert min(gaps) > 0
    assert sum(gaps[-10:]) < 0.25 * sum(gaps[:10])


def test_batches_take_turns():
    three = [separate_texts(TEXTS, 8, n, seed=1) for n in (1, 2, 3)]
    assert [len(in_turn(three)(step)[0]) for step in range(7)] == [1, 2, 3, 1, 2, 3, 1]
