"""How a text becomes tokens, merge by merge: what byte-pair encoding does, slowly, to be watched.

The tokens at the end are those that `Tokenizer.encode` gives at once; tests hold
them equal. Works for the tokenizers that this project learned.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise

from model.tokenizer import PIECES, Tokenizer

Tokens = list[bytes]


def ranks_of(tokenizer: Tokenizer) -> dict[bytes, int]:
    """Each token's bytes -> its id, which is also its rank."""
    return {tokenizer.token_bytes(i): i for i in range(tokenizer.n_vocab)}


def merge_steps(text: str, ranks: Mapping[bytes, int]) -> Iterator[Tokens]:
    """The text as bytes, then after each merge, the earliest learned first.

    >>> list(merge_steps("aab", {b"a": 0, b"b": 1, b"aa": 2}))
    [[b'a', b'a', b'b'], [b'aa', b'b']]
    """
    pieces = [[bytes([b]) for b in piece.encode()] for piece in re.findall(PIECES, text)]
    yield [token for piece in pieces for token in piece]
    while True:
        pairs = {left + right for piece in pieces for left, right in pairwise(piece)}
        known = [pair for pair in pairs if pair in ranks]
        if not known:
            return
        new = min(known, key=ranks.__getitem__)
        pieces = [merged(piece, new) for piece in pieces]
        yield [token for piece in pieces for token in piece]


def merged(piece: Tokens, new: bytes) -> Tokens:
    """Every two neighbours that make `new` joined.

    >>> merged([b"a", b"a", b"a"], b"aa")
    [b'aa', b'a']
    """
    out: Tokens = []
    i = 0
    while i < len(piece):
        if b"".join(piece[i : i + 2]) == new and i + 1 < len(piece):
            out.append(new)
            i += 2
        else:
            out.append(piece[i])
            i += 1
    return out
