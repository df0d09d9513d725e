"""The trainer, the merges by hand and tiktoken agree; damage to the files is named."""

from __future__ import annotations

import base64
import random
import re
from collections import Counter
from itertools import pairwise

import pytest
import tiktoken
from tiktoken.load import load_tiktoken_bpe

from model.errors import GPT2FilesError, RanksError
from model.tokenizer import (
    PIECES,
    Tokenizer,
    gpt2_tokenizer,
    load_ranks,
    merge,
    save_ranks,
    train_merges,
)
from tests.model.small import SHORT

KOREAN = "오늘 뭐 하지?\n산책은 어때요.\n\n오늘은 날씨가 좋아요. 오늘도 산책하고 싶어요.\n"


def random_unicode(seed: int, length: int = 200) -> str:
    """Characters of all planes, without the surrogates, which are no characters."""
    draw = random.Random(seed)
    codes = (draw.choice([draw.randrange(0x250), draw.randrange(0x110000)]) for _ in range(length))
    return "".join(chr(code) for code in codes if not 0xD800 <= code < 0xE000)


def random_letters(letters: str, seed: int) -> str:
    """Few letters in long runs: merges overlap wherever they can."""
    return "".join(random.Random(seed).choices(letters, k=600))


TEXTS = {
    "English": SHORT.read_text(encoding="utf-8"),
    "Korean": KOREAN,
    "emoji": "👩‍👩‍👧‍👦 🇰🇷 👍🏽 🙂🙂🙂 e\u0301 ﷽",
    "random unicode": random_unicode(1),
    "control characters": "".join(map(chr, range(32))) * 3 + "\x7f\x80\x9f\u2028\ufeff\x00\x00",
    "line ends": "one\r\ntwo\r\n\r\n  three \t four\n\n\n\r",
    "special token": "<|endoftext|> the <|endoftext|>",
    "digits and signs": "3.1415 + 2,718 = ??? [x_1] {y^2} ~~~ 100000",
    "a run": "a" * 1000 + " " * 999,
    "empty": "",
}
OVERLAPPING = {
    f"{letters} {seed}": random_letters(letters, seed)
    for letters in ("ab", "aab ", "abc", "가각")
    for seed in range(4)
}


def naive_merges(text: str, vocab_size: int) -> list[tuple[tuple[int, int], int]]:
    """The same rule, every pair of every piece counted again for every merge."""
    pieces = [list(piece.encode()) for piece in re.findall(PIECES, text)]
    merges = []
    for new in range(256, vocab_size):
        counts = Counter(pair for ids in pieces for pair in pairwise(ids))
        most = max(counts.values(), default=0)
        if most < 2:
            break
        pair = min(pair for pair, count in counts.items() if count == most)
        merges.append((pair, new))
        pieces = [merge(ids, pair, new) for ids in pieces]
    return merges


def encode_by_hand(text: str, merges: list[tuple[tuple[int, int], int]]) -> list[int]:
    """Each merge in turn, over each piece."""
    out = []
    for piece in re.findall(PIECES, text):
        ids = list(piece.encode())
        for pair, new in merges:
            ids = merge(ids, pair, new)
        out += ids
    return out


@pytest.fixture(scope="module")
def merges():
    """Learned from English and Korean together."""
    return list(train_merges(TEXTS["English"] + KOREAN * 3, 600))


@pytest.fixture(scope="module")
def tokenizer(merges):
    return Tokenizer.from_merges(merges)


@pytest.mark.parametrize("text", [*TEXTS.values(), *OVERLAPPING.values()])
def test_trainer_learns_what_counting_anew_learns(text):
    assert list(train_merges(text, 320)) == naive_merges(text, 320)


def test_trainer_on_a_case_worked_out_on_paper():
    # "aaab" twice: aa 4 times, ab twice. After aa -> X, "Xab" twice: Xa and ab tie, the smaller ids
    # (a, b) go first. After ab -> Y, "XY" twice.
    a, b = b"ab"
    assert list(train_merges("aaab\naaab", 300)) == [
        ((a, a), 256),
        ((a, b), 257),
        ((256, 257), 258),
    ]


def test_trainer_stops_where_it_is_told_and_where_nothing_repeats():
    assert len(list(train_merges(KOREAN, 260))) == 4
    assert list(train_merges(KOREAN, 256)) == list(train_merges("abcdef", 999)) == []


def test_merges_never_cross_a_piece(merges, tokenizer):
    for i in range(256, tokenizer.n_vocab):
        token = tokenizer.token_bytes(i).decode(errors="ignore")
        assert len(re.findall(PIECES, token)) <= 1


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_tiktoken_is_the_merges_by_hand(merges, tokenizer, text):
    ids = tokenizer.encode(text)
    assert ids == encode_by_hand(text, merges)
    assert tokenizer.decode(ids) == text
    assert b"".join(map(tokenizer.token_bytes, ids)) == text.encode()


@pytest.mark.parametrize("text", [*OVERLAPPING.values(), *map(random_unicode, range(5))])
def test_tiktoken_is_the_merges_by_hand_where_they_overlap(text):
    learned = list(train_merges(text, 400))
    assert Tokenizer.from_merges(learned).encode(text) == encode_by_hand(text, learned)


@pytest.mark.parametrize("plane", range(17))
def test_every_character_of_a_plane_comes_back(tokenizer, plane):
    codes = range(plane << 16, (plane + 1) << 16)
    text = "".join(chr(code) for code in codes if not 0xD800 <= code < 0xE000)
    assert tokenizer.decode(tokenizer.encode(text)) == text


def test_all_bytes_are_tokens(tokenizer):
    assert [tokenizer.token_bytes(i) for i in range(256)] == [bytes([i]) for i in range(256)]
    assert Tokenizer.from_merges([]).encode("é") == list("é".encode())


def test_half_a_syllable_shows_as_unknown(tokenizer):
    first, *rest = "한".encode()
    assert tokenizer.decode([first]) == "\ufffd"
    assert tokenizer.decode([first, *rest]) == "한"
    assert tokenizer.decode(tokenizer.encode("\ud83d")) == "\ufffd"  # half an emoji typed


def test_a_typed_special_token_is_text(tokenizer):
    ids = tokenizer.encode("<|endoftext|>")
    assert len(ids) > 1
    assert tokenizer.encoding.special_tokens_set == set()


# Cutting into pieces


def test_pieces_are_words_numbers_signs_and_blanks():
    text = "It's 2 pm,\n\n  안녕 세상\t!!\r\n"
    pieces = [
        "It",
        "'",
        "s",
        " 2",
        " pm",
        ",",
        "\n\n",
        " ",
        " 안녕",
        " 세상",
        "\t",
        "!!",
        "\r",
        "\n",
    ]
    assert re.findall(PIECES, text) == tiktokens_pieces(text) == pieces
    assert re.findall(PIECES, " \t\t") == [" ", "\t", "\t"]


def tiktokens_pieces(text: str) -> list[str]:
    """How tiktoken cuts: each piece, and each run of two or three, is a token of its own.

    A piece that is a token is taken whole, so that a longer cut would show as the
    run and a shorter one as bytes.
    """
    pieces = re.findall(PIECES, text)
    runs = {"".join(pieces[i : i + n]) for n in (1, 2, 3) for i in range(len(pieces))}
    tokens = [bytes([i]) for i in range(256)]
    tokens += sorted({run.encode() for run in runs} - set(tokens))
    encoding = Tokenizer.from_ranks({token: i for i, token in enumerate(tokens)}).encoding
    cut: list[bytes] = []
    for token in encoding.decode_tokens_bytes(encoding.encode_ordinary(text)):
        if len(token) == 1 and token[0] >= 128:
            pytest.fail(f"{token!r} was cut out of a character")
        cut.append(token)
    return [token.decode() for token in cut]


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_tiktoken_cuts_like_python(text):
    assert tiktokens_pieces(text) == re.findall(PIECES, text)
    assert "".join(re.findall(PIECES, text)) == text


@pytest.mark.parametrize("start", range(0, 0x10000, 0x4000))
def test_tiktoken_cuts_like_python_around_every_character(start):
    codes = [code for code in range(start, start + 0x4000) if not 0xD800 <= code < 0xE000]
    text = "".join(f"b{chr(code)}1 {chr(code)}." for code in codes)
    assert tiktokens_pieces(text) == re.findall(PIECES, text)


# Files


def test_a_file_of_ranks_comes_back(tokenizer, tmp_path, monkeypatch):
    save_ranks(tokenizer, tmp_path / "ranks")
    loaded = load_ranks(tmp_path / "ranks")
    assert loaded.n_vocab == tokenizer.n_vocab
    for text in TEXTS.values():
        assert loaded.encode(text) == tokenizer.encode(text)
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")  # tiktoken keeps no copy
    theirs = load_tiktoken_bpe(str(tmp_path / "ranks"))  # the layout is tiktoken's
    assert theirs == {tokenizer.token_bytes(i): i for i in range(tokenizer.n_vocab)}


def line(token: bytes, i: object) -> bytes:
    return base64.b64encode(token) + f" {i}\n".encode()


DAMAGE = {  # lines of the file -> lines, and what the error names
    "a byte is missing": (lambda ls: ls[:65] + ls[66:], "byte 65"),
    "an id is missing": (lambda ls: ls[:300] + ls[301:], "id 300"),
    "an id is there twice": (lambda ls: [*ls[:-1], line(b"never learned", 5)], "id "),
    "a token is there twice": (lambda ls: [*ls, line(b"A", 5000)], "id 65"),
    "a negative id": (lambda ls: [*ls, line(b"never learned", -1)], "id "),
    "no number": (lambda ls: [*ls, line(b"never learned", "x")], "line "),
    "no base64": (lambda ls: [*ls[:9], b"*** 9\n", *ls[10:]], "line 10"),
    "no token": (lambda ls: [b" 0\n", *ls[1:]], "line 1"),
    "cut off": (lambda ls: [*ls[:400], ls[400].split()[0]], "line 401"),
    "a binary file": (lambda ls: [bytes(range(128, 256))], "line 1"),
    "empty": (lambda ls: [], "byte 0"),
}


@pytest.mark.parametrize(("damage", "named"), DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_file_of_ranks_is_named(tokenizer, tmp_path, damage, named):
    path = tmp_path / "ranks"
    save_ranks(tokenizer, path)
    path.write_bytes(b"".join(damage(path.read_bytes().splitlines(keepends=True))))
    with pytest.raises(RanksError) as caught:
        load_ranks(path)
    assert named in caught.value.text("en")
    assert named in caught.value.text("ko")


# GPT-2's


def test_gpt2(gpt2_files):
    gpt2 = gpt2_tokenizer()
    assert gpt2.n_vocab == 50257
    assert gpt2.encode("hello world") == [31373, 995]
    assert gpt2.decode([15496, 995]) == "Hello world"
    assert 50256 not in gpt2.encode("<|endoftext|>")
    for text in TEXTS.values():
        assert gpt2.decode(gpt2.encode(text)) == text


@pytest.mark.parametrize("damaged", [False, True])
def test_gpt2_without_files_or_network_says_what_to_do(tmp_path, monkeypatch, damaged):
    monkeypatch.setattr(tiktoken.registry, "ENCODINGS", {})
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    for name in ("https_proxy", "HTTPS_PROXY"):  # nobody listens there: every download is refused
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    if damaged:
        for name in (
            "6d1cbeee0f20b3d9449abfede4726ed8212e3aee",
            "6c7ea1a7e38e3a7f062df639a5b80947f075ffe6",
        ):
            (tmp_path / name).write_bytes(b"not what it was")
    with pytest.raises(GPT2FilesError) as caught:
        gpt2_tokenizer()
    for lang in ("en", "ko"):
        assert "TIKTOKEN_CACHE_DIR" in caught.value.text(lang)
