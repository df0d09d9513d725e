"""`python app.py` as a person or a container runs it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import httpx
import pytest

from playground.middleware import preferred_language
from playground.server import StartError, add_model, check_address, parse
from tests.conftest import ROOT, AppServer, free_port, start_app


def run_app(*arguments: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess:
    """`python app.py *arguments`, to its end."""
    return subprocess.run(
        [sys.executable, "app.py", *arguments],
        cwd=ROOT,
        env={**os.environ, **(env or {})},
        capture_output=True,
        text=True,
        timeout=30,
    )


def home(app: AppServer, accept: str, query: str = "") -> httpx.Response:
    return httpx.get(f"{app.url}/{query}", headers={"Accept-Language": accept})


# Arguments.


def test_defaults_are_local() -> None:
    options = parse([], {})
    assert (options.host, options.port, options.lang) == ("127.0.0.1", 7860, None)


def test_gradio_variables_are_honoured_and_arguments_win() -> None:
    environ = {"GRADIO_SERVER_NAME": "0.0.0.0", "GRADIO_SERVER_PORT": "8000"}
    options = parse([], environ)
    assert (options.host, options.port) == ("0.0.0.0", 8000)
    options = parse(["--host", "localhost", "--port", "9000", "--lang", "ko"], environ)
    assert (options.host, options.port, options.lang) == ("localhost", 9000, "ko")


def test_a_space_listens_to_all() -> None:
    assert parse([], {"SYSTEM": "spaces"}).host == "0.0.0.0"
    assert parse([], {"SYSTEM": "spaces", "GRADIO_SERVER_NAME": "127.0.0.1"}).host == "127.0.0.1"


@pytest.mark.parametrize("port", ["0", "65536", "-1", "eight", "80.5", ""])
def test_a_port_that_is_none_is_refused(port: str) -> None:
    refused = run_app("--port", port)
    assert refused.returncode == 2
    assert f"{port!r} is not a port" in refused.stderr
    assert "1 to 65535" in refused.stderr


def test_a_port_variable_that_is_none_is_refused() -> None:
    refused = run_app(env={"GRADIO_SERVER_PORT": "eight"})
    assert refused.returncode == 2
    assert "'eight' is not a port" in refused.stderr


def test_an_unknown_language_is_refused() -> None:
    refused = run_app("--lang", "fr")
    assert refused.returncode == 2
    assert "'fr'" in refused.stderr


def test_a_port_in_use_is_one_clear_line() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        refused = run_app("--port", str(port))
    assert refused.returncode == 1
    assert refused.stderr.count("\n") == 1
    assert f"Cannot listen on 127.0.0.1:{port}: Address already in use" in refused.stderr
    assert "--port" in refused.stderr


def test_a_host_that_is_not_ours_is_refused() -> None:
    with pytest.raises(StartError, match=r"Cannot listen on 192\.0\.2\.1:"):
        check_address("192.0.2.1", free_port())  # reserved for documentation: nobody has it


# A model of one's own.


def test_without_model_nothing_is_added() -> None:
    assert parse([], {}).model is None
    assert parse(["--model", "folder"], {}).model == "folder"


def test_a_model_that_is_not_there_ends_the_start_with_one_line() -> None:
    refused = run_app("--port", str(free_port()), "--model", "no/such/folder", "--lang", "ko")
    assert refused.returncode == 1
    assert refused.stderr.count("\n") == 1
    assert "체크포인트 no/such/folder" in refused.stderr


@pytest.mark.parametrize("name", ["", "a b", "x" * 300, "\0", "a/b/c", "\ud800"])
@pytest.mark.parametrize("lang", ["en", "ko"])
def test_a_model_without_a_usable_name_is_refused(name: str, lang: str) -> None:
    with pytest.raises(StartError) as refused:
        add_model(name, lang)
    assert "\n" not in str(refused.value)


def test_a_damaged_model_is_named(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "config.json").write_text("{")
    with pytest.raises(StartError, match=r"mine lacks config\.json, or it is damaged"):
        add_model(str(tmp_path / "mine"), "en")


# The first page.


@pytest.mark.parametrize(
    ("accept", "lang"),
    [
        ("ko-KR,ko;q=0.9,en-US;q=0.8,en;q=0.7", "ko"),
        ("en-US,en;q=0.9,ko;q=0.8", "en"),
        ("fr-FR,fr;q=0.9,ko;q=0.5,en;q=0.3", "ko"),
        ("ko;q=0.2, en;q=0.9", "en"),
        ("ko;q=0, en;q=0.1", "en"),
        ("KO", "ko"),
        ("kok-IN, fr", "en"),  # Konkani is not Korean
        ("ko;q=nan, en;q=high", "en"),
        (";;,q=,*", "en"),
        ("", "en"),
    ],
)
def test_home_speaks_the_readers_language(app_url: AppServer, accept: str, lang: str) -> None:
    assert preferred_language(accept) == lang
    answer = home(app_url, accept)
    assert (answer.status_code, answer.headers["location"]) == (307, f"/{lang}")


def test_home_keeps_the_query(app_url: AppServer) -> None:
    answer = home(app_url, "ko", "?a=1&b=%EA%B0%80%20/?c")
    assert answer.headers["location"] == "/ko?a=1&b=%EA%B0%80%20/?c"


def test_both_pages_are_served(app_url: AppServer) -> None:
    for lang in ("ko", "en"):
        page = httpx.get(app_url.url, headers={"Accept-Language": lang}, follow_redirects=True)
        assert page.status_code == 200
        assert page.url.path == f"/{lang}"
        assert "text/html" in page.headers["content-type"]


def test_pages_travel_compressed_to_those_who_can_read_it(app_url: AppServer) -> None:
    plain = httpx.get(f"{app_url.url}/ko", headers={"Accept-Encoding": "identity"})
    gzipped = httpx.get(f"{app_url.url}/ko", headers={"Accept-Encoding": "gzip, br"})
    assert "content-encoding" not in plain.headers
    assert gzipped.headers["content-encoding"] == "gzip"
    assert gzipped.num_bytes_downloaded < len(plain.content) / 2
    assert "</html>" in gzipped.text


def test_the_address_is_printed(app_url: AppServer) -> None:
    assert f"Attention playground: {app_url.url}/\n" in app_url.log()


def test_the_start_does_not_import_sympy() -> None:
    """Some of torch's functions do when first called: half a second before the first page."""
    code = "import sys; from playground.app import build; build(); print('sympy' in sys.modules)"
    built = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert built.stdout == "False\n", built.stderr


# Stopping.


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_stops_within_two_seconds_even_with_a_page_open(tmp_path: Path, number: int) -> None:
    """One start serves three questions: --lang, a kept connection and the signal."""
    app = start_app(tmp_path / "log.txt", "--lang", "ko")
    assert home(app, "en").headers["location"] == "/ko"
    opened, heard = threading.Event(), []

    def keep_a_page_open() -> None:
        with httpx.stream("GET", f"{app.url}/gradio_api/heartbeat/abc", timeout=30) as page:
            opened.set()
            try:
                heard.extend(page.iter_bytes())
            except httpx.TransportError:
                heard.append(b"cut off")

    page = threading.Thread(target=keep_a_page_open)
    page.start()
    assert opened.wait(10)
    assert app.stop(number) == 0
    page.join(10)
    assert not page.is_alive()
    assert app.log() == f"Attention playground: {app.url}/\n"


def test_a_signal_during_the_start_is_no_error() -> None:
    starting = subprocess.Popen(
        [sys.executable, "-X", "importtime", "app.py", "--port", str(free_port())],
        cwd=ROOT,
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    )
    assert starting.stderr is not None
    for line in starting.stderr:  # imports are told as they end: torch's first parts are loading
        if "torch" in line:
            break
    starting.send_signal(signal.SIGINT)
    _, rest = starting.communicate(timeout=10)
    assert starting.returncode == 0
    assert "Traceback" not in rest


def test_once_it_is_warm_nobody_who_trains_waits_for_imports() -> None:
    script = """
import sys
from playground.server import warm_up
warm_up()
from model.plus_two import PlusTwoRun
known = set(sys.modules)
PlusTwoRun("mended", 1)
print(len(set(sys.modules) - known))
"""
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert (done.stderr, done.stdout) == ("", "0\n")
