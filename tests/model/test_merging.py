"""Merges one by one end in the tokens that `encode` gives at once."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

from model.checkpoint import NAMES, SHIPPED, load_checkpoint
from model.merging import merge_steps, merged, ranks_of
from model.tokenizer import Tokenizer

SHIPPED_NAMES = [n for n in NAMES if (SHIPPED / n / "model.safetensors").is_file()]
TEXTS = [
    "",
    "a",
    " ",
    "\n\n \n\t\r\n",
    "O Romeo, Romeo! wherefore art thou Romeo?",
    "the the thethe theth  the",
    "나는 학교에 간다. 오늘은 비가 옵니다!",
    "👩‍👩‍👧 🎒🎒 ❤️",
    "\u1112\u1161\u11ab 한",  # a syllable in parts, and whole
    "مرحبا بالعالم שלום",
    "नमस्ते दुनिया e\u0301 a\u200db \u2028 \x85 \x1c \x00",
    "<|endoftext|> <script>alert(1)</script>",
    "1234567890 3.14 -1e-9",
    "aaaaaaaaaaaaaaaa",
]


@pytest.fixture(scope="module", params=SHIPPED_NAMES)
def tokenizer(request: pytest.FixtureRequest) -> Tokenizer:
    return load_checkpoint(request.param).tokenizer


@pytest.fixture(scope="module")
def ranks(tokenizer: Tokenizer) -> dict[bytes, int]:
    return ranks_of(tokenizer)


def random_texts(count: int) -> list[str]:
    """Letters that merge, anything of Unicode between them."""
    rng = random.Random(8)
    common = ["the", "and", " ", "\n", "e", "th", "오늘", "는", ".", "2"]
    strange = [lambda: chr(rng.randrange(32, 0x3000)), lambda: chr(rng.randrange(0xE000, 0x20000))]
    return [
        "".join(
            rng.choice(common) if rng.random() < 0.7 else rng.choice(strange)()
            for _ in range(rng.randrange(1, 40))
        )
        for _ in range(count)
    ]


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_the_last_step_is_what_encode_gives(tokenizer, ranks, text):
    *_, last = merge_steps(text, ranks)
    assert [ranks[token] for token in last] == tokenizer.encode(text)


def test_the_same_for_random_texts(tokenizer, ranks):
    for text in random_texts(150):
        *_, last = merge_steps(text, ranks)
        assert [ranks[token] for token in last] == tokenizer.encode(text), ascii(text)


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_each_step_joins_one_kind_of_token(ranks, text):
    """Bytes at first; then one new token a step, learned, wherever its two halves met."""
    steps = list(merge_steps(text, ranks))
    assert steps[0] == [bytes([b]) for b in text.encode()]
    for before, after in pairwise(steps):
        assert b"".join(after) == text.encode()
        (new,) = set(after) - set(before)
        assert new in ranks
        gone = len(before) - len(after)
        assert gone == after.count(new) >= 1
        split = iter(after)
        at = 0
        while at < len(before):  # what is not the new token is as it was
            token = next(split)
            width = 2 if token == new else 1
            assert b"".join(before[at : at + width]) == token
            at += width


def test_the_earliest_learned_pair_is_joined_first():
    """A later pair waits, even where it stands first in the text."""
    merges = [((98, 99), 256), ((97, 98), 257), ((256, 256), 258)]  # bc, ab, bcbc
    ranks = ranks_of(Tokenizer.from_merges(merges))
    assert list(merge_steps("abcbcab", ranks)) == [
        [b"a", b"b", b"c", b"b", b"c", b"a", b"b"],
        [b"a", b"bc", b"bc", b"a", b"b"],
        [b"a", b"bc", b"bc", b"ab"],
        [b"a", b"bcbc", b"ab"],
    ]


def test_nothing_is_joined_across_pieces():
    merges = [((97, 32), 256), ((32, 97), 257), ((97, 49), 258)]
    ranks = ranks_of(Tokenizer.from_merges(merges))
    *_, last = merge_steps("a a1", ranks)
    assert last == [b"a", b" a", b"1"]  # "a " and "a1" cross a border


def test_joining_goes_from_the_left():
    assert merged([b"a"] * 5, b"aa") == [b"aa", b"aa", b"a"]
    assert merged([b"b", b"a"], b"aa") == [b"b", b"a"]
    assert merged([b"aa"], b"aa") == [b"aa"]
    assert merged([], b"aa") == []


def test_ranks_are_ids(tokenizer, ranks):
    assert len(ranks) == tokenizer.n_vocab
    assert all(tokenizer.token_bytes(i) == token for token, i in ranks.items())
