"""Files from the network, fetched once and kept.

They lie in ATTENTION_PLAYGROUND_CACHE, by default ~/.cache/attention-playground.
"""

from __future__ import annotations

import http.client
import os
import shutil
import urllib.error
import urllib.request
from pathlib import Path


def cache_folder() -> Path:
    chosen = os.environ.get("ATTENTION_PLAYGROUND_CACHE")
    return Path(chosen) if chosen else Path.home() / ".cache" / "attention-playground"


def download(address: str, path: Path) -> Path:
    """Fetch `address` into `path` unless it is there. Raises `OSError` where it cannot be reached."""
    if path.exists():
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(path.name + ".new")  # a broken download leaves no half file behind
    try:
        with urllib.request.urlopen(address, timeout=60) as reply, beside.open("wb") as file:
            shutil.copyfileobj(reply, file)
            announced = reply.headers.get("Content-Length")
    except urllib.error.HTTPError as error:
        error.close()  # it holds the connection
        raise
    except http.client.HTTPException as error:
        raise OSError(f"broken off: {error!r}") from error
    found = beside.stat().st_size
    whole = announced is None or found == int(announced)
    if not whole:  # urllib takes a reply that breaks off for the whole
        raise OSError(f"broken off: {found} of {announced} bytes")
    os.replace(beside, path)
    return path
