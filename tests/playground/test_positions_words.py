"""Words in the tab of embeddings: which tokens they are, what is said of them, what a model reads."""

from __future__ import annotations

import re

import pytest
import torch

from model import load_checkpoint
from model.errors import PlaygroundError
from playground.embeddings.state import EmbeddingsState
from playground.embeddings.words import read
from tests.playground.positions_pages import LANGS, do, example, flow, page, sentence, set_, shown


@pytest.mark.parametrize(
    ("typed", "blank", "text"),
    [
        ("king", True, " king"),
        ("king", False, " king"),  # only after a blank is it one token
        ("man", True, " man"),
        ("man", False, "man"),
        ("␣man", True, " man"),
        ("  man ", True, " man"),
        ("arwick", True, "arwick"),
        ("Romeo", True, " Romeo"),
        ("Romeo", False, "Romeo"),
    ],
)
def test_a_word_is_read_the_way_that_is_one_token(typed, blank, text):
    state = EmbeddingsState(word=typed, blank=blank)
    found = read(state)
    assert found.text == text
    assert list(found.ids) == load_checkpoint("shakespeare").tokenizer.encode(text)
    assert found.otherwise == (text.startswith(" ") != blank)


@pytest.mark.parametrize("section", ["neighbours", "arithmetic", "sum"])
@pytest.mark.parametrize("word", ["", " ", "␣", "🎒" * 8])
def test_a_word_that_cannot_be_looked_up_is_told_and_kept(section, word):
    state = set_(EmbeddingsState(section=section), "word", word)
    assert state.word == word
    for lang in LANGS:
        (said,) = [p.text for p in page(state, lang).all("p", "told") if "role" in p.attributes]
        assert bool(re.search("[가-힣]", said)) == (lang == "ko")
    assert flow(state).matrices == []


def test_a_word_of_several_tokens_is_said_to_be_one():
    state = example("pieces")
    for lang in LANGS:
        told = " ".join(p.text for p in page(state, lang).all("p", "told"))
        assert "␣Rome + o" in told
    rows = shown(state, "rows")
    torch.testing.assert_close(shown(state, "mean")[0], rows.mean(0))
    place = state.but(section="sum")
    assert "␣Rome" in sentence(place)
    assert "2 tokens" in page(place).text


def test_a_neighbour_becomes_the_word():
    state = example("king")
    (first, *_) = [b for b in page(state).all("button", "chip") if '"look"' in b.attributes["data-do"]]  # fmt: skip
    assert first.text == "␣queen"
    token = load_checkpoint("shakespeare").tokenizer.encode(" queen")[0]
    after = do(state, "look", token=token)
    assert (after.word, after.blank) == ("queen", True)
    assert "␣king" in sentence(after)
    with pytest.raises(PlaygroundError):
        do(state, "look", token=200)  # half a character


# Token + position


def test_the_sum_is_what_the_model_reads():
    state = example("sum").but(word="my", position=1)
    checkpoint = load_checkpoint("shakespeare-64")
    ids = checkpoint.tokenizer.encode("O my")
    trace = []
    with torch.no_grad():
        checkpoint.gpt(torch.tensor([ids]), trace=trace)
    assert ids[1] == read(state).ids[0]
    embedded = trace[0].embedded[0, 1].double()
    torch.testing.assert_close(shown(state, "sum")[0], embedded[:8], atol=1e-6, rtol=0)
    assert shown(state, "lengths")[2, 0].item() == pytest.approx(embedded.norm().item(), rel=1e-6)


def test_at_position_0_the_position_is_the_longer_row():
    token, position, _ = shown(example("sum").but(position=0), "lengths")[:, 0].tolist()
    assert position > token
    token, position, _ = shown(example("sum"), "lengths")[:, 0].tolist()
    assert position < token
