"""From arguments to a running server, and down again.

Torch and Gradio are imported only once the arguments are known to be good:
`--help`, a port in use or a signal during the start are answered at once.
"""

from __future__ import annotations

import argparse
import os
import signal
import socket
import sys
import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import gradio as gr

SECONDS_TO_STOP = 1.5

# Read by Gradio when it is imported: nothing is sent home, and the summary of
# past events, rebuilt after every queued one, is left alone.
QUIET = {
    "GRADIO_ANALYTICS_ENABLED": "False",
    "GRADIO_ANALYTICS_CACHE_FREQUENCY": "1000000",
    "HF_HUB_DISABLE_TELEMETRY": "1",
}


class StartError(Exception):
    """What keeps the server from starting, in one line."""


def serve(arguments: Sequence[str] | None = None) -> int:
    """Start, print the address, wait for Ctrl-C or SIGTERM, end the process; 1 if it cannot start."""
    # Process 1 of a container gets no default handlers, and Ctrl-C during the
    # long imports should be no traceback. Nothing is open yet that needs closing.
    on_signals(lambda number, frame: os._exit(0))
    options = parse(arguments, os.environ)
    try:
        check_address(options.host, options.port)
        demo = start(options)
    except StartError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"Attention playground: {demo.local_url}", flush=True)
    threading.Thread(target=warm_up, daemon=True).start()
    stopped = threading.Event()
    on_signals(lambda number, frame: stopped.set())
    while not stopped.wait(0.5):  # on Windows a wait without end hears no Ctrl-C
        pass
    stop(demo)
    sys.stdout.flush()
    os._exit(0)  # Python would take torch down object by object: a second that nobody needs


def parse(arguments: Sequence[str] | None, environ: Mapping[str, str]) -> argparse.Namespace:
    """host, port, lang and model: from the arguments, else Gradio's own variables, else defaults."""
    on_a_space = environ.get("SYSTEM") == "spaces"
    host = environ.get("GRADIO_SERVER_NAME") or ("0.0.0.0" if on_a_space else "127.0.0.1")
    parser = argparse.ArgumentParser(
        prog="app.py", description="Type token vectors and see attention computed live."
    )
    parser.add_argument("--host", default=host, help="address to listen on (default: %(default)s)")
    parser.add_argument(
        "--port",
        type=port_number,
        default=environ.get("GRADIO_SERVER_PORT") or "7860",
        help="port to listen on (default: %(default)s)",
    )
    parser.add_argument(
        "--lang", choices=("ko", "en"), help="language of / (default: the reader's own)"
    )
    parser.add_argument(
        "--model",
        metavar="FOLDER_OR_HUB_NAME",
        help="a model of your own beside the shipped ones: a checkpoint's folder, a folder with "
        "Hugging Face's GPT-2, or its name on the hub, like openai-community/gpt2",
    )
    return parser.parse_args(arguments)


def port_number(text: str) -> int:
    """A port as typed; `ArgumentTypeError` unless it is a whole number from 1 to 65535."""
    if not (text.isascii() and text.isdigit() and 1 <= int(text) <= 65535):
        raise argparse.ArgumentTypeError(f"{text!r} is not a port; it must be 1 to 65535")
    return int(text)


def check_address(host: str, port: int) -> None:
    """`StartError` unless we can listen there. Gradio would try for five seconds."""
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            if os.name == "posix":  # on Windows it would let two servers share a port
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        raise StartError(
            f"Cannot listen on {host}:{port}: {error.strerror or error}. "
            "Choose another with --port N."
        ) from None


def start(options: argparse.Namespace) -> gr.Blocks:
    """Build the app and serve it from a thread of its own.

    `StartError` if the port is lost, or for a model that cannot be loaded.
    """
    os.environ.update(QUIET, GRADIO_SERVER_NAME=options.host, GRADIO_SERVER_PORT=str(options.port))
    import torch

    from playground.app import build, page_parameters

    torch.set_num_threads(1)  # many small products at once: threads would only fight
    if options.model is not None:
        add_model(options.model, options.lang or "en")
    demo = build()
    parameters = {"app_kwargs": fastapi_parameters(demo, options.lang)} | SAFE | page_parameters()
    try:
        demo.launch(
            server_name=options.host,
            server_port=options.port,
            prevent_thread_lock=True,
            **parameters,
        )
    except OSError as error:
        if error.errno is not None:  # Gradio's own, when it finds no port, has no number
            raise
        raise StartError(f"Cannot listen on {options.host}:{options.port}: {error}") from None
    return demo


def warm_up() -> None:
    """What the first who trains would wait for: PyTorch's optimizers import its compiler, two
    seconds of it, when the first is made."""
    import torch

    torch.optim.Adam([torch.zeros(1, requires_grad=True)])


def add_model(folder_or_hub_name: str, lang: str) -> None:
    """Offer a person's own model; `StartError` with the sentence of what is wrong with it."""
    from model import PlaygroundError
    from playground import models

    try:
        models.add_own(folder_or_hub_name)
    except PlaygroundError as error:
        raise StartError(error.text(lang)) from None
    except OSError as error:  # a path that cannot even be looked at
        reason = error.strerror or error
        raise StartError(f"Cannot read --model {folder_or_hub_name}: {reason}.") from None


SAFE: dict[str, Any] = {
    "quiet": True,
    "share": False,
    "inbrowser": False,
    "show_error": False,  # a person's mistakes are gr.Error, shown all the same
    "run_history": False,
    "enable_monitoring": False,
    "footer_links": ["api"],
    "ssr_mode": False,
    "pwa": False,
    "max_file_size": "1mb",
    "state_session_capacity": 300,
}


def fastapi_parameters(demo: gr.Blocks, lang: str | None) -> dict[str, Any]:
    """What stands between the network and Gradio (see middleware.py)."""
    from starlette.middleware import Middleware

    from playground import direct
    from playground.middleware import BodyLimit, CompressedPages, HomeRedirect, exception_handlers

    public = [f.api_name for f in demo.fns.values() if f.api_visibility == "public"]
    root_path = os.environ.get("GRADIO_ROOT_PATH", "")
    return {
        "middleware": [
            Middleware(HomeRedirect, lang=lang, root_path=root_path),
            Middleware(BodyLimit),
            Middleware(CompressedPages),
        ],
        "exception_handlers": exception_handlers(public),
        "routes": direct.routes(),
    }


def stop(demo: gr.Blocks) -> None:
    """Close what is open, but wait for nobody: a page left open keeps its connection."""
    closing = threading.Thread(target=demo.close, kwargs={"verbose": False}, daemon=True)
    closing.start()
    closing.join(SECONDS_TO_STOP)
    if closing.is_alive():
        demo.server.force_exit = True
        closing.join(SECONDS_TO_STOP / 5)


def on_signals(handler: Any) -> None:
    """Call `handler(number, frame)` on Ctrl-C and on SIGTERM."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, handler)
