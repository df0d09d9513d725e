"""Byte-pair encoding: learned by a short readable trainer, run by tiktoken.

A text is bytes first (256 tokens, so that nothing is unknown: all of Unicode,
half a syllable, an emoji). Training merges the most frequent neighbouring pair
into a new token, again and again. The learned ranks then go into a real
`tiktoken.Encoding`, which is fast; tests hold it equal to the merges applied by
hand.

Left out: special tokens. `<|endoftext|>` typed by a person is ordinary text.
Source: Sennrich et al. 2016, "Neural Machine Translation of Rare Words with
Subword Units", algorithm 1, on bytes as in GPT-2 (Radford et al. 2019).
"""

from __future__ import annotations

import base64
import binascii
import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import tiktoken

from model import errors

# Merges never cross these pieces: letters with the space before them, digits, signs,
# line breaks, other blanks. Only ASCII is named, so that Python's `re` and tiktoken's
# regular expressions cut alike; any other character counts as a letter.
PIECES = r" ?[^ \n\t\r0-9!-/:-@\[-`{-~]+| ?[0-9]+| ?[!-/:-@\[-`{-~]+|\n+|[ \t\r]"

Pair = tuple[int, int]


def train_merges(text: str, vocab_size: int) -> Iterator[tuple[Pair, int]]:
    """Yield the merges in the order they are learned: ((left id, right id), new id).

    Ids 0 to 255 are the bytes; the first merge makes 256. Stops at `vocab_size`
    or when no pair occurs twice. Of equally frequent pairs the smaller ids go first.

    >>> list(train_merges("low low lower", 258))
    [((108, 111), 256), ((256, 119), 257)]
    """
    pieces = [(list(piece.encode()), n) for piece, n in Counter(re.findall(PIECES, text)).items()]
    counts: Counter[Pair] = Counter()
    where: dict[Pair, set[int]] = defaultdict(set)  # in which pieces a pair was seen
    for at, (ids, n) in enumerate(pieces):
        for pair in itertools.pairwise(ids):
            counts[pair] += n
            where[pair].add(at)
    for new in range(256, vocab_size):
        if not counts:
            return
        best = max(counts, key=lambda pair: (counts[pair], -pair[0], -pair[1]))
        if counts[best] < 2:
            return
        yield best, new
        for at in where.pop(best):  # only these pieces change: take their pairs out, put them back
            ids, n = pieces[at]
            after = merge(ids, best, new)
            for pair in itertools.pairwise(ids):
                counts[pair] -= n
                if not counts[pair]:
                    del counts[pair]
            for pair in itertools.pairwise(after):
                counts[pair] += n
                where[pair].add(at)
            pieces[at] = (after, n)


def merge(ids: list[int], pair: Pair, new: int) -> list[int]:
    """Every occurrence of `pair` in `ids` becomes `new`.

    >>> merge([1, 2, 3, 1, 2], (1, 2), 9)
    [9, 3, 9]
    """
    out: list[int] = []
    i = 0
    while i < len(ids):
        if ids[i : i + 2] == [*pair]:
            out.append(new)
            i += 2
        else:
            out.append(ids[i])
            i += 1
    return out


class Tokenizer:
    """Text to token ids and back, by a `tiktoken.Encoding`."""

    def __init__(self, encoding: tiktoken.Encoding) -> None:
        self.encoding = encoding

    @classmethod
    def from_merges(cls, merges: Iterable[tuple[Pair, int]], name: str = "learned") -> Tokenizer:
        """The tokenizer that applies `merges`, from `train_merges`, in their order."""
        token = {i: bytes([i]) for i in range(256)}
        for (left, right), new in merges:
            token[new] = token[left] + token[right]
        return cls.from_ranks({piece: i for i, piece in token.items()}, name)

    @classmethod
    def from_ranks(cls, ranks: Mapping[bytes, int], name: str = "learned") -> Tokenizer:
        """`ranks` maps each token's bytes to its id: ids 0, 1, 2, …, all 256 bytes among them.

        Raises `RanksError` where a byte or an id is missing.
        """
        for byte in range(256):
            if bytes([byte]) not in ranks:
                raise errors.RanksError(found=len(ranks), missing=f"byte {byte}")
        ids = set(ranks.values())
        for i in range(len(ranks)):
            if i not in ids:
                raise errors.RanksError(found=len(ranks), missing=f"id {i}")
        encoding = tiktoken.Encoding(
            name, pat_str=PIECES, mergeable_ranks=dict(ranks), special_tokens={}
        )
        return cls(encoding)

    @property
    def n_vocab(self) -> int:
        return self.encoding.n_vocab

    def encode(self, text: str) -> list[int]:
        """The ids of a text. Nothing in it is special: what a person types is text."""
        return self.encoding.encode_ordinary(text)

    def decode(self, ids: Iterable[int]) -> str:
        """The text of ids; bytes that are no whole character show as \ufffd."""
        return self.encoding.decode(list(ids))

    def token_bytes(self, i: int) -> bytes:
        """The bytes that one token stands for."""
        return self.encoding.decode_single_token_bytes(i)


def save_ranks(tokenizer: Tokenizer, path: Path) -> None:
    """One token a line, its bytes in base64 and its id: the layout that tiktoken uses."""
    lines = (
        f"{base64.b64encode(tokenizer.token_bytes(i)).decode()} {i}\n"
        for i in range(tokenizer.n_vocab)
    )
    path.write_text("".join(lines), encoding="ascii")


def load_ranks(path: Path, name: str = "learned") -> Tokenizer:
    """The tokenizer of a file that `save_ranks` wrote. Raises `RanksError`."""
    ranks: dict[bytes, int] = {}
    for number, line in enumerate(path.read_bytes().splitlines(), start=1):
        try:
            token, i = line.split()
            ranks[base64.b64decode(token, validate=True)] = int(i)
        except (ValueError, binascii.Error) as error:
            raise errors.RanksError(found=len(ranks), missing=f"line {number}") from error
    return Tokenizer.from_ranks(ranks, name)


def gpt2_tokenizer() -> Tokenizer:
    """GPT-2's own, 50,257 tokens, through `tiktoken.get_encoding`.

    tiktoken looks in the folder named by TIKTOKEN_CACHE_DIR, then downloads.
    Raises `GPT2FilesError` where it can do neither.
    """
    try:
        return Tokenizer(tiktoken.get_encoding("gpt2"))
    except (OSError, ValueError, ImportError) as error:  # requests' errors are OSErrors
        raise errors.GPT2FilesError(reason=type(error).__name__) from error
