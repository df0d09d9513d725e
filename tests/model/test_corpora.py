"""Corpora: how each is split, that it is what its sum says, and how it is had."""

from __future__ import annotations

import csv
import hashlib
import io
from dataclasses import replace

import pytest

from model.corpora import (
    CORPORA,
    UNFIT,
    last_tenth,
    questions_and_answers,
    read_corpus,
    read_text,
)
from model.downloads import cache_folder, download
from model.errors import CorpusError, TextFileError
from tests.model.small import SHORT

FILES = {"tinyshakespeare": "tinyshakespeare.txt", "korean_chatbot": "korean_chatbot.csv"}


def table(*rows: tuple[str, str]) -> str:
    """A CSV of questions and answers as the corpus writes it."""
    out = io.StringIO()
    csv.writer(out).writerows([("Q", "A", "label"), *((q, a, 0) for q, a in rows)])
    return out.getvalue()


def pairs(text: str) -> list[tuple[str, str]]:
    """The text to learn from -> its questions and answers."""
    assert text.endswith("\n\n")
    return [tuple(block.split("\n")) for block in text.removesuffix("\n\n").split("\n\n")]


# Splits


@pytest.mark.parametrize("length", [0, 1, 5, 10, 11, 99, 1000])
def test_the_last_tenth_is_held_out(length):
    text = "".join(chr(0xAC00 + i) for i in range(length))
    split = last_tenth(text)
    assert split.train + split.held_out == text
    assert 0 <= len(split.held_out) - length / 10 < 1


def test_pairs_are_written_question_answer_blank():
    split = questions_and_answers(
        table(("뭐 해?", "쉬고 있어요."), ("  안녕   하세요 ", " 네, 안녕. "))
    )
    assert split.held_out == ""
    assert sorted(pairs(split.train)) == [("뭐 해?", "쉬고 있어요."), ("안녕 하세요", "네, 안녕.")]


def test_answers_stay_with_their_question():
    rows = [(f"질문 {q}", f"답 {q}-{a}") for a in range(3) for q in range(40)]  # sorted by answer
    split = questions_and_answers(table(*rows))
    train, held_out = pairs(split.train), pairs(split.held_out)
    assert sorted(train + held_out) == sorted(rows)
    assert len(held_out) == 4 * 3
    assert {q for q, _ in train}.isdisjoint(q for q, _ in held_out)


def test_one_question_in_other_blanks_is_one():
    rows = [(f"질문{blanks}{q}", "답") for blanks in (" ", "  ", "\t") for q in range(20)]
    split = questions_and_answers(table(*rows))
    train, held_out = pairs(split.train), pairs(split.held_out)
    assert len({q for q, _ in train + held_out}) == 20
    assert {q for q, _ in train}.isdisjoint(q for q, _ in held_out)


def test_the_split_follows_the_seed_and_not_the_order_of_the_file():
    rows = [(f"질문 {q}", f"답 {q}") for q in range(50)]
    once = questions_and_answers(table(*rows), seed=3)
    assert questions_and_answers(table(*rows), seed=3) == once
    assert questions_and_answers(table(*reversed(rows)), seed=3) == once
    assert questions_and_answers(table(*rows), seed=4).held_out != once.held_out


UNFIT_WORDS = (
    "죽을",
    "살기 싫다",
    "우울증",
    "술",
    "술한잔",
    "혼술 한",
    "술마시",
    "술집",
    "담배",
    "키스",
    "야한 꿈",
    "바람펴서",
    "쓰레기",
    "엿같다",
    "나쁜 년들",
    "욕 좀",
)
HARMLESS = ("기술이", "예술을", "마술은", "미술 시간", "교육을", "의욕이")


@pytest.mark.parametrize("word", HARMLESS)
def test_a_pair_that_only_looks_unfit_stays(word):
    rows = [(f"이건 {word} 뭐", "몰라요"), ("날씨", "맑아요")]
    assert len(pairs(questions_and_answers(table(*rows)).train)) == 2


@pytest.mark.parametrize("word", UNFIT_WORDS)
def test_a_pair_with_an_unfit_word_is_left_out(word):
    rows = [(f"이건 {word} 뭐", "몰라요"), ("이건 뭐", f"그건 {word} 거예요"), ("날씨", "맑아요")]
    assert pairs(questions_and_answers(table(*rows)).train) == [("날씨", "맑아요")]


def test_pairs_without_question_or_answer_are_left_out():
    rows = [("", "답"), ("질문", "  "), ("날씨", "맑아요")]
    assert pairs(questions_and_answers(table(*rows)).train) == [("날씨", "맑아요")]


# The corpora themselves


def test_shakespeare(data):
    split = read_corpus("tinyshakespeare", data / FILES["tinyshakespeare"])
    assert (len(split.train), len(split.held_out)) == (
        1_003_854,
        111_540,
    )  # as nanoGPT's prepare.py
    assert split.train.startswith("First Citizen:\nBefore we proceed")


def test_korean(data):
    path = data / FILES["korean_chatbot"]
    split = read_corpus("korean_chatbot", path)
    train, held_out = pairs(split.train), pairs(split.held_out)
    assert {len(pair) for pair in train + held_out} == {2}
    assert {q for q, _ in train}.isdisjoint(q for q, _ in held_out)
    assert 0.08 < len(held_out) / len(train + held_out) < 0.12
    for question, answer in train + held_out:
        assert not UNFIT.search(f"{question} {answer}")
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    answers = {answer for _, answer in train + held_out}
    assert answers <= {row["A"].strip() for row in rows}
    left_out = len(rows) - len(train + held_out)
    assert 80 <= left_out <= 500  # a filter, not a flood
    labels = {row["Q"].strip(): row["label"] for row in rows}
    seen = {labels.get(question) for question, _ in held_out}
    assert seen >= {
        "0",
        "1",
        "2",
    }  # the file is sorted by label; the held-out part is not one of them


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_not_the_corpus_is_refused(name, tmp_path):
    path = tmp_path / "other.txt"
    path.write_text("not the corpus", encoding="utf-8")
    with pytest.raises(CorpusError) as caught:
        read_corpus(name, path)
    found = hashlib.sha256(b"not the corpus").hexdigest()
    for lang in ("en", "ko"):
        for part in (name, found[:12], CORPORA[name].sha256[:12], CORPORA[name].address):
            assert part in caught.value.text(lang)
    assert path.exists()  # it is somebody's file


def test_a_file_that_is_not_there(tmp_path):
    for path in (tmp_path / "nowhere.txt", tmp_path):
        with pytest.raises(CorpusError, match=path.name):
            read_corpus("tinyshakespeare", path)


def test_each_corpus_says_where_it_is_from():
    for name, corpus in CORPORA.items():
        assert corpus.name == name
        assert corpus.address.startswith("https://")
        assert corpus.licence
        assert corpus.rule


# A text of one's own


def test_a_text_of_ones_own():
    split = read_text(SHORT)
    text = SHORT.read_text(encoding="utf-8")
    assert split == last_tenth(text)
    assert len(split.held_out) > 50


def test_a_byte_order_mark_is_no_character(tmp_path):
    path = tmp_path / "mine.txt"
    path.write_bytes(b"\xef\xbb\xbf" + ("내가 쓴 글입니다. " * 20).encode())
    assert read_text(path).train.startswith("내가")


@pytest.mark.parametrize("content", [b"\xff\xfe\x00d", "한글".encode("cp949"), b"too short", None])
def test_a_text_that_cannot_be_read(tmp_path, content):
    path = tmp_path / "mine.txt"
    if content:
        path.write_bytes(content)
    with pytest.raises(TextFileError) as caught:
        read_text(path)
    for lang in ("en", "ko"):
        assert "mine.txt" in caught.value.text(lang)


# Downloads


@pytest.fixture
def served(server, monkeypatch):
    """A corpus whose address is the server on this machine."""
    text = "served and summed. " * 20
    (server.folder / "corpus.txt").write_text(text, encoding="utf-8")

    def serve(file: str = "corpus.txt", content: str = text) -> str:
        corpus = replace(
            CORPORA["tinyshakespeare"],
            address=f"{server.url}/{file}",
            sha256=hashlib.sha256(content.encode()).hexdigest(),
        )
        monkeypatch.setitem(CORPORA, "tinyshakespeare", corpus)
        return content

    return serve


def test_a_corpus_is_downloaded_once(served, server):
    text = served()
    for _ in range(2):
        assert read_corpus("tinyshakespeare") == last_tenth(text)
    assert server.asked == ["/corpus.txt"]
    assert [path.read_text() for path in cache_folder().iterdir()] == [text]


def test_a_download_with_another_sum_is_not_kept(served, server):
    served(content="what it should be")
    with pytest.raises(CorpusError, match="sha256"):
        read_corpus("tinyshakespeare")
    assert list(cache_folder().iterdir()) == []
    (server.folder / "corpus.txt").write_text("what it should be")
    assert read_corpus("tinyshakespeare").train.startswith("what it should")


@pytest.mark.parametrize("file", ["nowhere.txt", "cut.txt"])
def test_a_download_that_fails_says_so(served, server, file):
    served(file)
    with pytest.raises(CorpusError) as caught:
        read_corpus("tinyshakespeare")
    for lang in ("en", "ko"):
        assert f"{server.url}/{file}" in caught.value.text(lang)
        assert "--data" in caught.value.text(lang)


def test_a_cut_reply_leaves_no_file(server, tmp_path):
    with pytest.raises(OSError, match="10 of 1000 bytes"):
        download(f"{server.url}/cut.txt", tmp_path / "here" / "it.txt")
    assert not (tmp_path / "here" / "it.txt").exists()


def test_an_address_that_nobody_answers(tmp_path):
    with pytest.raises(OSError, match="refused"):
        download("http://127.0.0.1:9/file", tmp_path / "file")


def test_what_is_there_is_not_fetched(tmp_path):
    path = tmp_path / "there"
    path.write_text("kept")
    assert download("http://127.0.0.1:9/file", path) == path
    assert path.read_text() == "kept"


def test_the_cache_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("ATTENTION_PLAYGROUND_CACHE", str(tmp_path / "chosen"))
    assert cache_folder() == tmp_path / "chosen"
    monkeypatch.delenv("ATTENTION_PLAYGROUND_CACHE")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder() == tmp_path / ".cache" / "attention-playground"
