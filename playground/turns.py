"""Long work in turns, so that thirty people can train on two cores without freezing the others.

Whoever computes a step of training, or a few tokens, holds `TURN` and lets go after it:
one of them computes at a time, and what others only type is answered beside it. A few may
be at it at once; the rest stand in a queue, each knowing their place. Who no longer asks
has gone away, and loses the place.

No scheduler: the browser asks for the next turn when it has painted the last one.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

TURN = threading.Lock()  # held for one step
SECONDS = 0.3  # of steps in a row before an answer: the curve moves, painting takes less than half
AT_ONCE = 4  # people who work at the same time
PATIENCE = 5.0  # seconds without a word after which a place is given to the next


class Queue:
    """Who may work now, and who waits. Shared between all people; forgets nothing but places."""

    def __init__(self, at_once: int = AT_ONCE, clock: Callable[[], float] = time.monotonic) -> None:
        self.at_once, self.clock = at_once, clock
        self.seen: dict[str, float] = {}  # ticket -> when it last asked, in the order of coming
        self.lock = threading.Lock()

    def place(self, ticket: str) -> int:
        """0: work now; n: the n-th of those who wait."""
        with self.lock:
            now = self.clock()
            gone = [name for name, at in self.seen.items() if now - at > PATIENCE]
            for name in gone:
                del self.seen[name]
            self.seen[ticket] = now  # keeps the place that it had
            return max(0, list(self.seen).index(ticket) - self.at_once + 1)

    def leave(self, ticket: str) -> None:
        with self.lock:
            self.seen.pop(ticket, None)


QUEUE = Queue()


def work(
    ticket: str, step: Callable[[], bool], *, queue: Queue = QUEUE, seconds: float = SECONDS
) -> int:
    """One person's next turn: `step()` again and again for a while, each under `TURN`.

    `step` says whether there is more to do; once there is not, or it raises, the place is
    free. Returns 0 where it worked, else the place in the queue.
    """
    place = queue.place(ticket)
    if place:
        return place
    end, more = time.monotonic() + seconds, True
    try:
        while more:
            with TURN:
                more = step()
            if time.monotonic() >= end:
                break
    except BaseException:
        queue.leave(ticket)
        raise
    if not more:
        queue.leave(ticket)
    return 0
