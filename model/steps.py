"""The small computations of a GPT outside attention, each one pure function.

Read aloud, they are the formulas of the lessons; what goes wrong in them is in
mistakes.py. A model does not call them one by one: its own modules do the same
inside, and tests hold the two equal. They check nothing and let PyTorch raise.

Left out: attention (attention.py, multihead.py).

Axes: T time, C = n_embd, V = vocab_size; `...` stands for any leading axes.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from model.errors import HeadsError
from model.sampling import heated, keep_top_k, keep_top_p

EPS = 1e-5  # keeps LayerNorm from dividing by 0 where all numbers are equal; PyTorch's and GPT-2's
BASE = 10_000  # of sinusoidal positions: the last pair turns almost this much slower than the first

# From two vectors to weights


def dot(q: Tensor, k: Tensor) -> Tensor:
    """How far two vectors point the same way: `(..., hs)` and `(..., hs)` -> `(...)`.

    >>> dot(torch.tensor([1.0, 2.0]), torch.tensor([3.0, -1.0])).item()
    1.0
    """
    return (q * k).sum(dim=-1)  # q · k = Σ qᵢ kᵢ


def softmax(scores: Tensor) -> Tensor:
    """Scores `(..., n)` -> shares `(..., n)`, all positive, that sum to 1.

    >>> softmax(torch.tensor([0.0, 0.0])).tolist()
    [0.5, 0.5]
    """
    return scores.softmax(dim=-1)  # pᵢ = e^sᵢ / Σ e^sⱼ


def softmax_slope(scores: Tensor) -> Tensor:
    """How fast each share grows with its own score: `(..., n)` -> `(..., n)`, from 0 to ¼.

    Near 0 where a share is near 0 or 1: saturated, nothing is left to learn from.

    >>> softmax_slope(torch.tensor([0.0, 0.0])).tolist()
    [0.25, 0.25]
    """
    p = softmax(scores)
    return p * (1 - p)  # ∂pᵢ/∂sᵢ = pᵢ (1 − pᵢ)


# Inside a block


def layer_norm(x: Tensor) -> Tensor:
    """Each token's numbers shifted to mean 0 and shrunk to variance 1: `(..., C)` -> `(..., C)`.

    Without the weight and the bias that a LayerNorm learns. Source: Ba et al. 2016.
    """
    return F.layer_norm(x, x.shape[-1:], eps=EPS)  # (x − mean) / √(Σ (x − mean)² / C + eps)


def residual(x: Tensor, sublayer: Tensor) -> Tensor:
    """What a sublayer found, added to what it read: `(..., C)` each -> `(..., C)`.

    Source: He et al. 2016, "Deep Residual Learning", equation 1.
    """
    return x + sublayer  # the stream stays, the sublayer adds


def pre_norm(x: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
    """Half a block: the sublayer reads the stream normalised, the stream itself stays as it is.

    x `(..., C)`, sublayer `(..., C)` -> `(..., C)`. Source: Radford et al. 2019, section 2.3.
    """
    return residual(x, sublayer(layer_norm(x)))  # x + f(LayerNorm(x))


# Positions


def embed(token: Tensor, position: Tensor) -> Tensor:
    """A row of wte and a row of wpe -> what the first block reads: `(..., C)` each."""
    return token + position  # wte[id] + wpe[position]


def sinusoid(position: int, width: int) -> Tensor:
    """A row of the table of positions, `(width,)` in float64: sine, cosine, sine, cosine, …

    Source: Vaswani et al. 2017, section 3.5.

    >>> sinusoid(0, 4).tolist()
    [0.0, 1.0, 0.0, 1.0]
    """
    column = torch.arange(width, dtype=torch.float64)
    pair = column // 2  # columns 0 and 1 are pair 0, columns 2 and 3 pair 1
    angle = position / BASE ** (2 * pair / width)  # pos / 10000^(2i/width), in radians
    return torch.where(column % 2 == 0, angle.sin(), angle.cos())


# Choosing the next token: logits (V,) -> probabilities (V,)


def temperature(logits: Tensor, T: float) -> Tensor:
    """Probabilities at temperature T: above 1 more even, below 1 more decided, at 0 one alone."""
    return softmax(heated(logits, T))  # softmax(logits / T)


def top_k(logits: Tensor, k: int) -> Tensor:
    """Probabilities of the k most probable tokens, which share all of it; 0 for the others.

    Source: Fan et al. 2018.
    """
    return softmax(keep_top_k(logits, k))  # the others' logits are −∞


def top_p(logits: Tensor, p: float) -> Tensor:
    """Probabilities of the fewest most probable tokens that reach p together; 0 for the others.

    The token that crosses p is kept. Source: Holtzman et al. 2020, section 3.1.
    """
    return softmax(keep_top_p(logits, p))  # the others' logits are −∞


# Learning


def cross_entropy(logits: Tensor, targets: Tensor) -> Tensor:
    """Mean surprise at the right tokens, in nats: logits `(..., V)`, ids `(...)` -> a scalar.

    >>> round(cross_entropy(torch.zeros(1, 4), torch.tensor([2])).item(), 4)  # ln 4
    1.3863
    """
    flat = logits.reshape(-1, logits.size(-1))
    return F.cross_entropy(flat, targets.reshape(-1))  # −mean ln p(target)


def gradient_step(weight: Tensor, gradient: Tensor, learning_rate: float) -> Tensor:
    """The weights after one step of plain gradient descent, of the same shape."""
    return weight - learning_rate * gradient  # downhill: against the gradient


# Counting: whole numbers


def visible_pairs(T: int) -> int:
    """Pairs (query, key) that a causal mask leaves among T tokens.

    >>> visible_pairs(4)  # 1 + 2 + 3 + 4
    10
    """
    return T * (T + 1) // 2


def linear_parameters(d_in: int, d_out: int) -> int:
    """Numbers that a Linear learns: a weight for each input and output, a bias for each output.

    >>> linear_parameters(3, 2)
    8
    """
    return d_in * d_out + d_out


def attention_parameters(n_embd: int, n_head: int = 1) -> int:
    """Numbers that multi-head attention learns, 4 C² + 4 C: the same for any number of heads.

    Raises `HeadsError` where n_head does not divide n_embd.

    >>> attention_parameters(64), attention_parameters(64, n_head=4)
    (16640, 16640)
    """
    if n_embd % n_head:
        raise HeadsError(width=n_embd, n_head=n_head)
    c_attn = 3 * n_head * linear_parameters(n_embd, n_embd // n_head)  # q, k and v of each head
    c_proj = linear_parameters(n_embd, n_embd)
    return c_attn + c_proj


def score_bytes(T: int, bytes_per_number: int) -> int:
    """Bytes of the T × T scores of one head in one layer.

    >>> score_bytes(1024, 4) // 2**20  # MiB
    4
    """
    return T * T * bytes_per_number


def kv_cache_bytes(n_layer: int, n_embd: int, T: int, bytes_per_number: int) -> int:
    """Bytes of the keys and values of T tokens in all layers, n_embd numbers each."""
    return 2 * n_layer * n_embd * T * bytes_per_number  # 2: a key and a value


def utf8_bytes(text: str) -> int:
    """Bytes of a text in UTF-8, which is what byte-pair encoding begins from.

    >>> utf8_bytes("cat"), utf8_bytes("고양이")
    (3, 9)
    """
    return len(text.encode())
