"""The weights that come with the project: their sizes, their cards, and the losses the cards claim."""

from __future__ import annotations

import json
import math
from functools import cache
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from model import Checkpoint, load_checkpoint
from model.checkpoint import CARD, CONFIG, NAMES, RANKS, SHIPPED, WEIGHTS
from model.corpora import CORPORA, Split, documents, read_corpus
from model.evaluation import HeldOutLoss
from model.ngram import NgramModel
from model.recipes import RECIPES, learned, loss_on

LARGEST_FILE = 10_000_000  # bytes
TARGETS = {"shakespeare": 1.50, "shakespeare-64": 1.60}  # nats per character on the last tenth
TEXTS = ["", "ROMEO:\nO, speak again", "오늘 뭐 하지?\n", "🙂👩‍👩‍👧‍👦 \x00\r\n\ud7a3 <|endoftext|>"]

every = pytest.mark.parametrize("name", NAMES)


@cache
def loaded(name: str) -> Checkpoint:
    return load_checkpoint(name)


@cache
def split_of(name: str, data: Path) -> Split:
    """The split of the corpus that a model learned from."""
    corpus = loaded(name).card["corpus"]["name"]
    (path,) = data.glob(f"{corpus}.[tc]*")  # .txt or .csv, not .LICENSE
    return read_corpus(corpus, path)


@cache
def loss_of(name: str, data: Path, key: str = "held_out") -> HeldOutLoss:
    """Computed from the shipped files, on the text held out or on as much that was learned."""
    split = split_of(name, data)
    part = split if key == "held_out" else learned(split)
    return loss_on(loaded(name).gpt, loaded(name).tokenizer, part)


@every
def test_files(name):
    files = {path.name: path.stat().st_size for path in (SHIPPED / name).iterdir()}
    assert {WEIGHTS, CONFIG, RANKS, CARD} <= files.keys()
    assert max(files.values()) < LARGEST_FILE
    assert all(path.is_dir() for path in SHIPPED.iterdir())


def test_nothing_else_is_shipped():
    assert {path.name for path in SHIPPED.iterdir()} == set(NAMES) == set(RECIPES)


@every
def test_half_precision_on_disk_is_float32_in_memory(name):
    assert {t.dtype for t in load_file(SHIPPED / name / WEIGHTS).values()} == {torch.float16}
    for parameter, p in loaded(name).gpt.named_parameters():
        assert p.dtype == torch.float32
        assert p.isfinite().all(), parameter
    assert not loaded(name).gpt.training


@every
def test_sizes(name):
    checkpoint = loaded(name)
    sizes = checkpoint.gpt.config
    assert checkpoint.tokenizer.n_vocab == sizes.vocab_size
    assert sizes == RECIPES[name].gpt
    assert checkpoint.card.get("separator", "") == ("\n\n" if name == "korean" else "")
    if name == "shakespeare":
        assert checkpoint.gpt.n_parameters <= 4_900_000
    if name == "shakespeare-64":  # the notes' own
        assert (sizes.n_layer, sizes.n_head, sizes.n_embd) == (4, 4, 64)


@every
def test_all_of_unicode_passes(name):
    checkpoint = loaded(name)
    for text in TEXTS:
        ids = checkpoint.tokenizer.encode(text)
        assert checkpoint.tokenizer.decode(ids) == text
        if ids:
            assert checkpoint.gpt(torch.tensor([ids])).isfinite().all()


@every
def test_card(name):
    card = loaded(name).card
    corpus = CORPORA[RECIPES[name].corpus]
    assert card["name"] == name
    for key in ("name", "address", "sha256", "licence", "rule"):
        assert card["corpus"][key] == getattr(corpus, key)
    assert card["parameters"] == loaded(name).gpt.n_parameters
    assert card["command"].startswith(f"python -m model train {name}")
    assert isinstance(card["recipe"]["training"]["seed"], int)
    assert card["recipe"]["gpt"] == json.loads((SHIPPED / name / CONFIG).read_text())
    for key in ("steps", "tokens_seen", "seconds"):
        assert card[key] > 0
    assert card["tokens_seen"] >= card["steps"]
    assert card["machine"]
    assert "/" not in card["command"] + card["machine"]  # nobody's folders


@every
def test_card_shows_both_curves(name):
    card = loaded(name).card
    curve = card["curve"]
    steps = [point["step"] for point in curve]
    assert len(curve) >= 5
    assert steps == sorted(set(steps))
    assert steps[-1] == card["steps"]
    for point in curve:
        assert math.isfinite(point["loss"])
        assert math.isfinite(point["val_loss"])
    best = min(point["val_loss"] for point in curve)  # the weights kept are those of the best
    assert card["held_out"]["nats_per_character"] == pytest.approx(best, abs=2e-3)


@every
@pytest.mark.parametrize("key", ["held_out", "learned"])
def test_loss_on_the_card_is_that_of_the_files(name, key, data):
    card, loss = loaded(name).card[key], loss_of(name, data, key)
    assert loss.per_character == pytest.approx(card["nats_per_character"], abs=1e-3)
    assert loss.per_byte == pytest.approx(card["nats_per_byte"], abs=1e-3)
    assert (loss.characters, loss.tokens) == (card["characters"], card["tokens"])
    held_out = len(split_of(name, data).held_out)
    assert held_out <= loss.characters < held_out + 200  # a short text is taken whole
    assert key == "learned" or loss.characters == held_out


@pytest.mark.parametrize("name", TARGETS)
def test_shakespeare_reaches_its_target(name, data):
    assert loss_of(name, data).per_character <= TARGETS[name]


def test_korean_beats_counting(data):
    """A 5-gram of characters with interpolated smoothing, learned from the same split.

    It is told every character of the held-out text, which is a gift to it.
    """
    split = split_of("korean", data)
    ids = {character: i for i, character in enumerate(sorted({*split.train, *split.held_out}))}

    def texts(text: str) -> list[list[int]]:
        return [[ids[c] for c in part] for part in documents(text, split.separator)]

    counting = NgramModel(texts(split.train), len(ids))
    counted = sum(counting.nats(text) for text in texts(split.held_out))
    assert counted / len(split.held_out) == pytest.approx(1.9037, abs=1e-4)  # as README says
    assert loss_of("korean", data).nats < counted


def test_korean_never_learned_an_unfit_word():
    tokenizer = loaded("korean").tokenizer
    tokens = [tokenizer.token_bytes(i).decode(errors="ignore") for i in range(tokenizer.n_vocab)]
    assert "요" in "".join(tokens)
    assert not [
        word for word in ("죽", "자살", "섹스", "담배", "병신") for t in tokens if word in t
    ]
