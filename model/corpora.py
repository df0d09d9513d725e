"""Texts to train on: by name, address and sum; or any text file of one's own.

A named corpus is downloaded once, checked against its sha256 and kept in
ATTENTION_PLAYGROUND_CACHE (by default ~/.cache/attention-playground). Where
there is no network, hand over the file itself.

Left out: the texts. Only what was trained from them is in this project.
"""

from __future__ import annotations

import csv
import hashlib
import io
import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from model import errors
from model.downloads import cache_folder, download


@dataclass(frozen=True)
class Split:
    """The text to learn from and the text held out.

    Where there is a `separator`, the text is many short ones, each ending with it.
    """

    train: str
    held_out: str
    separator: str = ""


@dataclass(frozen=True)
class Corpus:
    """Where a corpus comes from, what it must sum to, and how it is split."""

    name: str
    address: str
    sha256: str
    licence: str
    split: Callable[[str], Split]
    rule: str  # the split in words, for the card


def last_tenth(text: str) -> Split:
    """The first 90 % of the characters to learn from, the last 10 % held out.

    >>> last_tenth("abcdefghij")
    Split(train='abcdefghi', held_out='j', separator='')
    """
    n = int(0.9 * len(text))
    return Split(text[:n], text[n:])


# Dying, harm, drink, sex and contempt: a pair that speaks of them is left out of a classroom.
# 술 is a drink, but not in 기술, 예술, 마술 and their like; 죽 is porridge only rarely.
UNFIT = re.compile(
    "죽|자살|자해하|살인|시체|장례|유서|목숨|살기 싫|살고 싶지|사라지고 싶|우울증|정신병|공황"
    "|(?<![가-힣])술|술 ?(?:먹|마|집|자리|한)|소주|맥주|소맥|담배|흡연|마약|도박|클럽|헌팅|원나잇"
    "|섹스|성관계|스킨십|키스|뽀뽀|모텔|야한|야동|임신|낙태|생리|변태|몸매|성형|성폭|폭행|때렸|때려"
    "|바람 ?[피펴핀]|불륜|양다리|유부녀|유부남|이혼|간통|환승"
    "|병신|씨발|시발|새끼|지랄|개같|꺼져|쓰레기|또라이|멍청|바보|한심|못생|뚱뚱|살찐|살쪘|돼지"
    "|[년놈]들|놈아|욕 |욕을|욕해|엿|저주|증오|미친|미쳤|게이였"
)


def questions_and_answers(text: str, seed: int = 1) -> Split:
    """A CSV of Q,A,label -> "question\\nanswer\\n\\n" for each fit pair; a tenth of the questions held out.

    Grouped by question, so that no question of the held-out tenth was trained on;
    shuffled by `seed`, because the file is sorted by label.
    """
    groups: dict[str, list[str]] = {}
    for row in csv.DictReader(io.StringIO(text)):
        question, answer = row["Q"].strip(), row["A"].strip()
        if question and answer and not UNFIT.search(f"{question} {answer}"):
            groups.setdefault(" ".join(question.split()), []).append(answer)
    questions = sorted(groups)
    random.Random(seed).shuffle(questions)
    n = len(questions) // 10

    def written(names: list[str]) -> str:
        return "".join(f"{q}\n{a}\n\n" for q in names for a in groups[q])

    return Split(written(questions[n:]), written(questions[:n]), separator="\n\n")


def documents(text: str, separator: str) -> list[str]:
    """A text cut after each separator; whole where there is none.

    >>> documents("a|b|", "|"), documents("ab", "")
    (['a|', 'b|'], ['ab'])
    """
    if not separator:
        return [text]
    return [part + separator for part in text.split(separator) if part]


CORPORA = {
    corpus.name: corpus
    for corpus in (
        Corpus(
            "tinyshakespeare",
            "https://raw.githubusercontent.com/karpathy/char-rnn/master/data/tinyshakespeare/input.txt",
            "86c4e6aa9db7c042ec79f339dcb96d42b0075e16b8fc2e86bf0ca57e2dc565ed",
            "public domain",
            last_tenth,
            "the last 10 % of the characters held out",
        ),
        Corpus(
            "korean_chatbot",
            "https://raw.githubusercontent.com/songys/Chatbot_data/master/ChatbotData.csv",
            "287eb129695b577321c80ad397bb3c2279164d4ca577874d129fd3db5b30afe2",
            "MIT, Youngsook Song",
            questions_and_answers,
            "a tenth of the questions held out, shuffled by seed 1, with all their answers; "
            "pairs unfit for a classroom left out",
        ),
    )
}


def read_corpus(name: str, path: Path | None = None) -> Split:
    """The split of a named corpus, from `path` or the cache or its address.

    Raises `CorpusError` where the file is not the named corpus or cannot be had.
    """
    corpus = CORPORA[name]
    found = path or cache_folder() / f"{name}-{corpus.sha256[:8]}"
    try:
        if not path:
            download(corpus.address, found)
        data = found.read_bytes()
    except OSError as error:
        reason = f"{found}: {error}" if path else f"download failed ({error})"
        raise errors.CorpusError(name=name, reason=reason, address=corpus.address) from error
    total = hashlib.sha256(data).hexdigest()
    if total != corpus.sha256:
        if not path:
            found.unlink()  # not ours: the next call downloads it again
        reason = f"{found}: sha256 {total[:12]}…, expected {corpus.sha256[:12]}…"
        raise errors.CorpusError(name=name, reason=reason, address=corpus.address)
    return corpus.split(data.decode("utf-8-sig"))


def read_text(path: Path) -> Split:
    """Any text file of one's own, the last 10 % held out. Raises `TextFileError`."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = type(error).__name__
        raise errors.TextFileError(path=path, reason=reason, least=LEAST) from error
    if len(text) < LEAST:
        raise errors.TextFileError(path=path, reason=len(text), least=LEAST)
    return last_tenth(text)


LEAST = 100  # characters: below, there is nothing to hold out
