"""Tasks: rows as their rules say, floors counted over every row there is, answers judged."""

from __future__ import annotations

import itertools
import math

import pytest
import torch

from model import GPT, GPTConfig
from model.errors import AlphabetError, CharacterError, ChoiceError, TextLengthError
from model.tasks import ANSWERS, LETTERS, SEPARATOR, TASKS, Task, ask, greedy, make_task

TEXT = "나는 학교에 간다. 너는 집에 간다. 우리는 함께 간다."
RIGHT = {  # written without torch
    "copy": lambda letters: letters,
    "reverse": lambda letters: letters[::-1],
    "sort": lambda letters: "".join(sorted(letters)),
}
ALL = [make_task(name, TEXT) for name in TASKS]


@pytest.fixture(params=ALL, ids=TASKS)
def task(request) -> Task:
    return request.param


class Knows(torch.nn.Module):
    """Not a model: it foretells each row of a list, and 0 for any other beginning."""

    def __init__(self, rows: list[list[int]], n_symbols: int) -> None:
        super().__init__()
        self.next = {tuple(row[:n]): row[n] for row in rows for n in range(1, len(row))}
        self.n_symbols = n_symbols

    def forward(self, idx: torch.Tensor) -> torch.Tensor:
        follows = [
            [self.next.get(tuple(row[: n + 1]), 0) for n in range(len(row))] for row in idx.tolist()
        ]
        return torch.nn.functional.one_hot(torch.tensor(follows), self.n_symbols).float()


# Rows


@pytest.mark.parametrize("name", RIGHT)
def test_letters_are_answered_by_the_rule(name):
    task = make_task(name)
    seen = set()
    for row in task.rows(step=3, seed=5, count=200).tolist():
        question, answer = task.decode(row).split(SEPARATOR)
        assert len(question) == 6
        assert set(question) <= set(LETTERS)
        assert answer == RIGHT[name](question)
        seen |= set(question)
    assert seen == set(LETTERS)


def test_counting_goes_on_by_one_from_any_digit():
    rows = make_task("count").rows(step=1, seed=2, count=100)
    texts = {make_task("count").decode(row) for row in rows.tolist()}
    assert texts == {"".join(str((start + n) % 10) for n in range(13)) for start in range(10)}


def test_a_texts_rows_are_pieces_of_it():
    task = make_task("text", TEXT)
    rows = {task.decode(row) for row in task.rows(0, 0, 400).tolist()}
    assert rows == {TEXT[n : n + 25] for n in range(len(TEXT) - 24)}


@pytest.mark.parametrize("length", [20, 24, 25, 26])
def test_a_short_text_is_one_row_or_a_few(length):
    text = TEXT[:length]
    task = make_task("text", text)
    rows = {task.decode(row) for row in task.rows(0, 0, 60).tolist()}
    assert rows == {text[n : n + 25] for n in range(max(1, length - 24))}
    assert task.prompt(0) + task.answer(0) in rows


def test_every_place_is_foretold(task):
    idx, targets = task.batch(step=7, seed=1, batch_size=5)
    rows = task.rows(step=7, seed=1, count=5)
    assert idx.shape == targets.shape == (5, task.block_size)
    assert torch.equal(idx, rows[:, :-1])
    assert torch.equal(targets, rows[:, 1:])


def test_a_batch_follows_from_step_and_seed_alone(task):
    torch.manual_seed(1)
    before = torch.get_rng_state()
    first = task.batch(3, 4)
    assert torch.equal(torch.get_rng_state(), before)
    torch.manual_seed(2)
    assert torch.equal(task.batch(3, 4)[0], first[0])
    for step, seed in ((4, 4), (3, 5)):
        assert not torch.equal(task.batch(step, seed)[0], first[0])


def test_characters_are_ids_and_back(task):
    ids = list(range(len(task.alphabet)))
    assert task.encode(task.decode(ids)) == ids
    with pytest.raises(CharacterError) as caught:
        task.encode(task.alphabet[0] + "Ω")
    for lang in ("en", "ko"):
        assert "Ω" in caught.value.text(lang)
        assert str(len(ids)) in caught.value.text(lang)


# What can be known without a model


@pytest.mark.parametrize("name", RIGHT)
def test_the_floor_is_the_surprise_left_when_every_row_is_known(name):
    """Σ over places of H(next | all before), counted over each of the 8⁶ rows."""
    letters = torch.cartesian_prod(*[torch.arange(8)] * 6)
    bar = torch.full((len(letters), 1), 8)
    rows = torch.cat([letters, bar, ANSWERS[name](letters)], dim=1)
    codes, entropies = rows[:, 0], []  # a number for what was read so far
    for place in range(1, rows.size(1)):
        _, codes = codes.unique(return_inverse=True)
        pairs, of_pair = (codes * 9 + rows[:, place]).unique(return_inverse=True)
        p = of_pair.bincount(minlength=len(pairs))[of_pair] / codes.bincount()[codes]
        entropies.append(-p.double().log().mean().item())
        codes = codes * 9 + rows[:, place]
    task = make_task(name)
    assert len(entropies) == task.block_size
    assert task.floor == pytest.approx(sum(entropies) / len(entropies))
    assert task.floor < task.chance == pytest.approx(math.log(9))


def test_counting_can_be_known_and_a_texts_floor_cannot():
    count, text = make_task("count"), make_task("text", TEXT)
    starts = {row[0]: row for row in count.rows(0, 0, 200).tolist()}
    assert len(starts) == 10
    assert all(row == starts[row[0]] for row in count.rows(1, 0, 50).tolist())
    assert count.floor == 0
    assert text.floor is None
    assert text.chance == pytest.approx(math.log(len(set(TEXT))))


# Questions


def test_questions_differ_by_seed_and_are_answered_by_the_row(task):
    asked = {seed: task.prompt(seed) + task.answer(seed) for seed in range(8)}
    assert len(set(asked.values())) > 2
    for name in RIGHT.keys() & {task.name}:
        for text in asked.values():
            question, answer = text.split(SEPARATOR)
            assert answer == RIGHT[name](question)
    assert all(len(text) == task.row for text in asked.values())


def test_who_knows_the_rows_answers_all_and_who_knows_some_answers_those(task):
    rows = task.rows(1_000_002, 6, 32).tolist()
    all_right = ask(Knows(rows, len(task.alphabet)), task, seed=6)
    assert [a.given for a in all_right] == [a.right for a in all_right]
    assert all(a.is_right for a in all_right)
    assert (all_right[0].question, all_right[0].right) == (task.prompt(6), task.answer(6))
    nothing = ask(Knows([], len(task.alphabet)), task, seed=6)
    assert {a.given for a in nothing} == {task.alphabet[0] * (task.row - task.asked)}
    assert not any(a.is_right for a in nothing)
    half = ask(Knows(rows[:16], len(task.alphabet)), task, seed=6)
    known = {a.question for a in all_right[:16]}
    assert [a.is_right for a in half] == [a.question in known for a in all_right]


@pytest.mark.parametrize("causal", [True, False])
def test_greedy_takes_the_most_probable_token_of_all_that_was_read(causal):
    gpt = GPT(GPTConfig(9, 12, 1, 2, 8, causal=causal), torch.Generator().manual_seed(1), std=0.5)
    idx = torch.arange(6).reshape(2, 3)
    written = greedy(gpt, idx, 5)
    assert torch.equal(written[:, :3], idx)
    for row, place in itertools.product(written, range(3, 8)):
        assert row[place] == gpt(row[None, :place])[0, -1].argmax()


# What is no task


def test_an_unknown_task_is_told_which_there_are():
    with pytest.raises(ChoiceError, match=r"multiply.*copy \| reverse \| sort \| count \| text"):
        make_task("multiply")


@pytest.mark.parametrize("length", [0, 19, 2_001])
def test_a_text_too_short_or_too_long(length):
    with pytest.raises(TextLengthError) as caught:
        make_task("text", "a" * length)
    for lang in ("en", "ko"):
        assert {str(length), "20", "2000"} <= set(
            caught.value.text(lang).replace("자", " ").split()
        )


def test_a_text_of_too_many_characters():
    for count in (200, 201):
        text = "".join(chr(0xAC00 + n) for n in range(count))
        if count == 200:
            assert len(make_task("text", text).alphabet) == 200
        else:
            with pytest.raises(AlphabetError, match=r"201.*200"):
                make_task("text", text)
