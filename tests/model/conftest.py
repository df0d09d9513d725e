"""What the tests of model/ share: a precision, the corpora where they are, a local web server."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
import tiktoken
import torch
from torch import Tensor

DATA = Path(__file__).parents[2].parent / "shared" / "data"


@dataclass(frozen=True)
class Precision:
    """A type of number and the largest difference allowed between two routes to it."""

    dtype: torch.dtype
    bound: float

    def normal(self, *shape: int) -> Tensor:
        return torch.randn(*shape, dtype=self.dtype)

    def close(self, actual: Tensor, expected: Tensor) -> None:
        """Same shape, same type, no entry further apart than the bound."""
        torch.testing.assert_close(actual, expected, atol=self.bound, rtol=0)


@pytest.fixture(params=[(torch.float64, 1e-10), (torch.float32, 1e-5)], ids=["float64", "float32"])
def precision(request: pytest.FixtureRequest) -> Precision:
    torch.manual_seed(20)
    return Precision(*request.param)


@pytest.fixture
def exact() -> Precision:
    torch.manual_seed(21)
    return Precision(torch.float64, 1e-10)


@pytest.fixture
def data() -> Path:
    """The folder of corpora beside the repository; no test without it."""
    if not DATA.is_dir():
        pytest.skip(f"the corpora are not beside the repository: no {DATA.name} folder in shared")
    return DATA


@pytest.fixture
def gpt2_files(data: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """tiktoken finds GPT-2's files, and nothing of an earlier call."""
    monkeypatch.setattr(tiktoken.registry, "ENCODINGS", {})
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(data / "tiktoken_cache"))
    return data / "tiktoken_cache"


@dataclass(frozen=True)
class LocalServer:
    """A web server on this machine over `folder`; `asked` keeps the paths."""

    url: str
    folder: Path
    asked: list[str]


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LocalServer]:
    """A `LocalServer`, the cache folder of downloads empty and in `tmp_path`."""
    folder, asked = tmp_path / "served", []
    folder.mkdir()
    monkeypatch.setenv("ATTENTION_PLAYGROUND_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("no_proxy", "127.0.0.1")

    class Handler(SimpleHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            if not self.path.endswith("cut.txt"):
                return super().do_GET()
            self.send_response(200)  # a reply that breaks off
            self.send_header("Content-Length", "1000")
            self.end_headers()
            self.wfile.write(b"half of it")

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=folder)) as web:
        thread = Thread(target=web.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield LocalServer(f"http://127.0.0.1:{web.server_port}", folder, asked)
        web.shutdown()
        thread.join()
