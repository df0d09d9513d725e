"""Tasks that a tiny GPT learns in seconds and a person can judge.

    copy      bdafce|bdafce     six letters, a bar, the letters again
    reverse   bdafce|ecfadb     … from the last to the first
    sort      bdafce|abcdef     … in the order of the alphabet
    count     7890123456789     digits going on by one, 0 after 9
    text      a person's own text, character by character

A token is one character. A row is a question and its answer; a model reads all but its
last token and is to foretell all but its first, at every place. Rows are drawn with a
`torch.Generator` made from seed and step, so that a batch is a function of the two.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Tensor

from model import errors
from model.batches import Batch
from model.gpt import GPT

TASKS = ("copy", "reverse", "sort", "count", "text")
LETTERS, SEPARATOR, DIGITS = "abcdefgh", "|", "0123456789"
N_LETTERS = 6  # in a question
ROW = 2 * N_LETTERS + 1  # tokens of a row; T = ROW − 1 are read
TEXT_ROW = 25  # of a text, where it is long enough
MIN_TEXT, MAX_TEXT = 20, 2_000  # characters
MAX_ALPHABET = 200  # different characters of a text
QUESTION_STEP = 1_000_002  # questions are drawn as the batch of a step that no training reaches

ANSWERS: dict[str, Callable[[Tensor], Tensor]] = {  # letters (B, N) -> answers (B, N)
    "copy": lambda letters: letters,
    "reverse": lambda letters: letters.flip(-1),
    "sort": lambda letters: letters.sort(dim=-1).values,
}
DrawRows = Callable[[int, torch.Generator], Tensor]  # B, generator -> ids (B, row)


@dataclass(frozen=True)
class Answer:
    """What a model was asked, what is right, and what it wrote."""

    question: str
    right: str
    given: str

    @property
    def is_right(self) -> bool:
        return self.given == self.right


@dataclass(frozen=True)
class Task:
    """Rows to learn from, and what can be said of them without any model."""

    name: str
    alphabet: str  # a character's place in it is its id
    row: int  # tokens of a row
    asked: int  # how many of them are the question
    floor: float | None  # least mean loss of a model that does not look ahead, in nats
    draw: DrawRows

    @property
    def block_size(self) -> int:
        """T: how many tokens a model reads."""
        return self.row - 1

    @property
    def chance(self) -> float:
        """ln V nats: the loss of a model that gives every character the same probability."""
        return math.log(len(self.alphabet))

    def encode(self, text: str) -> list[int]:
        """Raises `CharacterError` for one that the task does not have."""
        for character in text:
            if character not in self.alphabet:
                raise errors.CharacterError(
                    found=character, count=len(self.alphabet), alphabet=self.alphabet
                )
        return [self.alphabet.index(character) for character in text]

    def decode(self, ids: list[int]) -> str:
        return "".join(self.alphabet[i] for i in ids)

    def rows(self, step: int, seed: int, count: int) -> Tensor:
        """`(count, row)` ids, the same for the same step and seed."""
        return self.draw(count, torch.Generator().manual_seed(seed * 1_000_003 + step))

    def batch(self, step: int, seed: int, batch_size: int = 16) -> Batch:
        """idx and targets, each `(batch_size, T)`: targets are the same rows one token later."""
        rows = self.rows(step, seed, batch_size)
        return rows[:, :-1], rows[:, 1:]

    def prompt(self, seed: int) -> str:
        """The question of that seed."""
        return self.decode(self.rows(QUESTION_STEP, seed, 1)[0, : self.asked].tolist())

    def answer(self, seed: int) -> str:
        """What should be written after it."""
        return self.decode(self.rows(QUESTION_STEP, seed, 1)[0, self.asked :].tolist())


def ask(gpt: GPT, task: Task, seed: int = 0, count: int = 32) -> list[Answer]:
    """`count` questions, newly drawn, answered by a model that always takes the most probable token.

    The first is `task.prompt(seed)`. How many are right: `sum(a.is_right for a in ask(…))`.
    """
    rows = task.rows(QUESTION_STEP, seed, count)
    given = greedy(gpt, rows[:, : task.asked], task.row - task.asked)
    return [
        Answer(*map(task.decode, (row[: task.asked], row[task.asked :], written[task.asked :])))
        for row, written in zip(rows.tolist(), given.tolist(), strict=True)
    ]


@torch.no_grad()
def greedy(gpt: GPT, idx: Tensor, count: int) -> Tensor:
    """idx `(B, T)` -> `(B, T + count)`: each row written on by its most probable token.

    All is read again for each token, so that a model without the causal mask writes too.
    """
    for _ in range(count):
        most_probable = gpt(idx)[:, -1].argmax(dim=-1, keepdim=True)  # (B, V) -> (B, 1)
        idx = torch.cat([idx, most_probable], dim=-1)
    return idx


@lru_cache(maxsize=64)  # a task holds nothing that changes
def make_task(name: str, text: str = "") -> Task:
    """A task by its name; `text` is read for "text" alone.

    Raises `ChoiceError`, and for a text `TextLengthError` or `AlphabetError`.
    """
    if name not in TASKS:
        raise errors.ChoiceError(name="task", found=name, choices=" | ".join(TASKS))
    if name == "text":
        return text_task(text)
    return count_task() if name == "count" else letters_task(name)


def letters_task(name: str) -> Task:
    """copy, reverse or sort: letters drawn evenly and independently, `|`, the answer.

    No reader can know the letters after the first: N − 1 of the T places cost ln 8 each;
    the bar and the answer follow from what was read: floor = (N − 1) ln 8 / T.
    """
    answer, K, N = ANSWERS[name], len(LETTERS), N_LETTERS

    def draw(count: int, generator: torch.Generator) -> Tensor:
        letters = torch.randint(K, (count, N), generator=generator)
        bar = torch.full((count, 1), K)
        return torch.cat([letters, bar, answer(letters)], dim=-1)  # (B, N + 1 + N)

    floor = (N - 1) * math.log(K) / (ROW - 1)
    return Task(name, LETTERS + SEPARATOR, ROW, N + 1, floor, draw)


def count_task() -> Task:
    """Digits from anywhere, each one more than the last: after the first all is known, floor 0."""

    def draw(count: int, generator: torch.Generator) -> Tensor:
        starts = torch.randint(len(DIGITS), (count, 1), generator=generator)
        return (starts + torch.arange(ROW)) % len(DIGITS)  # (B, 1) + (row,) -> (B, row)

    return Task("count", DIGITS, ROW, N_LETTERS + 1, 0.0, draw)


def text_task(text: str) -> Task:
    """Pieces of a text from anywhere in it. What a text's least loss is, nobody knows.

    Raises `TextLengthError` or `AlphabetError`.
    """
    if not MIN_TEXT <= len(text) <= MAX_TEXT:
        raise errors.TextLengthError(found=len(text), least=MIN_TEXT, most=MAX_TEXT)
    alphabet = "".join(sorted(set(text)))
    if len(alphabet) > MAX_ALPHABET:
        raise errors.AlphabetError(found=len(alphabet), most=MAX_ALPHABET)
    ids = torch.tensor([alphabet.index(character) for character in text])
    row = min(TEXT_ROW, len(text))

    def draw(count: int, generator: torch.Generator) -> Tensor:
        starts = torch.randint(len(ids) - row + 1, (count, 1), generator=generator)
        return ids[starts + torch.arange(row)]  # (B, 1) + (row,) -> (B, row)

    return Task("text", alphabet, row, row // 2, None, draw)
