"""Time and memory of attention, measured on this machine by four routes.

- traced: `attend`, every step kept;
- fused: `attend_fast`, PyTorch's own, which never stores the T × T matrix;
- window: `attend_window`, each query beside its `WINDOW` neighbours on either side only;
- linear: `attend_linear`, no scores at all.

All without a causal mask, in float32, on random q, k and v: every query sees every key that
its route lets it see. What the counts alone say is in cost.py.
"""

from __future__ import annotations

import time
import weakref
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, fields

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from model.attention import attend, attend_fast
from model.block import check_choice
from model.cheaper import attend_linear, attend_window, check_size

LENGTHS = (64, 128, 256, 512, 1024, 2048, 4096)  # doubling, so that growth can be read off
REPEATS = 3  # the best of them counts: what else the machine does only ever adds time
SECONDS = 0.2  # after which one measurement is not repeated: others wait for its end
WINDOW = 64

ROUTES: Mapping[str, Callable[[Tensor, Tensor, Tensor], object]] = {
    "traced": lambda q, k, v: attend(q, k, v),
    "fused": lambda q, k, v: attend_fast(q, k, v),
    "window": lambda q, k, v: attend_window(q, k, v, WINDOW, causal=False),
    "linear": lambda q, k, v: attend_linear(q, k, v),
}


@dataclass(frozen=True)
class Measurement:
    """One route at one length."""

    T: int
    route: str
    seconds: float  # of the best run
    kept: int  # bytes of q, k, v and of all that the route returns
    peak: int  # bytes alive at once while it ran, q, k and v among them
    spent: float  # seconds that measuring took, all runs together


def measure(T: int, n_head: int, head_size: int, route: str) -> Measurement:
    """Run `route` on one text of T tokens, n_head heads of head_size numbers.

    The first run is for the bytes and warms up; the others are timed, the best of up to
    `REPEATS` within `SECONDS`. `kept` and `peak` count each storage once, however many tensors
    look into it. They leave out what a kernel takes and gives back inside itself: for the fused
    one a few hundred KiB of tiles, whatever the length. Numbers of the program itself are not
    counted.

    Raises `SizeError` for a size below 1, `ChoiceError` for a route that is not in `ROUTES`.
    """
    for name, size in (("T", T), ("n_head", n_head), ("head_size", head_size)):
        check_size(name, size)
    check_choice("route", route, tuple(ROUTES))
    began = time.perf_counter()
    run, (q, k, v) = ROUTES[route], drawn(T, n_head, head_size)
    with torch.no_grad():
        with Allocations(q, k, v) as allocations:
            returned = run(q, k, v)
        kept = stored_bytes([q, k, v, *tensors_of(returned)])
        del returned  # the timed runs find the memory that it held
        seconds = best_time(lambda: run(q, k, v))
    spent = time.perf_counter() - began
    return Measurement(T, route, seconds, kept, allocations.peak, spent)


def upcoming(
    done: Collection[Measurement], routes: Collection[str], cap: float
) -> tuple[int, str] | None:
    """The next (length, route) to measure: all routes at one length, then the next length.

    None at the end: no longer length is begun once `cap` seconds are spent, since each costs
    up to four times what the last one did.
    """
    measured = {(m.T, m.route) for m in done}
    for T in LENGTHS:
        begun = any(m.T == T for m in done)
        if not begun and sum(m.spent for m in done) >= cap:
            return None
        for route in routes:
            if (T, route) not in measured:
                return T, route
    return None


def drawn(T: int, n_head: int, head_size: int) -> tuple[Tensor, ...]:
    """Random q, k and v, `(1, n_head, T, head_size)` each: only with four axes is PyTorch's
    attention fused."""
    generator = torch.Generator().manual_seed(0)
    return tuple(torch.randn(1, n_head, T, head_size, generator=generator) for _ in range(3))


def best_time(run: Callable[[], object]) -> float:
    """Seconds of the fastest of up to `REPEATS` runs; none is begun after `SECONDS`."""
    best, end = float("inf"), time.perf_counter() + SECONDS
    for _ in range(REPEATS):
        began = time.perf_counter()
        run()
        ended = time.perf_counter()
        best = min(best, ended - began)
        if ended > end:
            break
    return best


def tensors_of(returned: object) -> list[Tensor]:
    """The tensors of a trace, or the one tensor that a fast route returns."""
    if isinstance(returned, Tensor):
        return [returned]
    values = (getattr(returned, field.name) for field in fields(returned))
    return [value for value in values if isinstance(value, Tensor)]


def stored_bytes(tensors: list[Tensor]) -> int:
    """Bytes of the distinct storages behind tensors: a view costs nothing."""
    storages = {storage._cdata: storage for storage in (t.untyped_storage() for t in tensors)}
    return sum(storage.nbytes() for storage in storages.values())


class Allocations(TorchDispatchMode):
    """While it is active, follows the memory behind every tensor that this thread makes.

    `given` tensors are there already and count too. `peak` is the most bytes that were alive
    at once. PyTorch calls `__torch_dispatch__` for each of its operations.
    """

    def __init__(self, *given: Tensor) -> None:
        super().__init__()
        self.alive: dict[int, int] = {}  # storage -> bytes
        self.peak = 0
        for tensor in given:
            self.follow(tensor)

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # nothing is compiled here; True would import the compiler, two seconds of it

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        for found in tree_leaves(result):
            if isinstance(found, Tensor):
                self.follow(found)
        return result

    def follow(self, tensor: Tensor) -> None:
        storage = tensor.untyped_storage()
        if storage._cdata not in self.alive:  # not a view of something known
            self.alive[storage._cdata] = storage.nbytes()
            weakref.finalize(storage, self.alive.pop, storage._cdata, None)
            self.peak = max(self.peak, sum(self.alive.values()))
