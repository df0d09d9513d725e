#!/bin/sh
# Creates .venv with Python 3.11 or 3.12. Called by `make`; safe to run again.
#
# Where no such Python is at hand, Debian's packages are installed (as root, or by a sudo that
# asks no password); where Debian's is too new, uv (from PyPI) fetches Python 3.12.
set -eu
venv=${1:-.venv}

supported() {
    "$1" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 12))' 2>/dev/null
}

find_python() { # python3 first: it is the one the machine's own packages are made for
    for python in python3 python3.12 python3.11; do
        if supported "$python"; then command -v "$python"; return; fi
    done
}

apt_install() {
    command -v apt-get >/dev/null || return 1
    if [ "$(id -u)" = 0 ]; then as_root=env; else as_root="sudo -n env"; fi
    $as_root true 2>/dev/null || return 1
    echo "Installing Debian packages: $*"
    $as_root DEBIAN_FRONTEND=noninteractive apt-get update -qq &&
        $as_root DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

stop() {
    printf 'make: %s\n' "$@" >&2
    exit 1
}

create() { # create PYTHON FOLDER
    rm -rf "$2"
    "$1" -m venv "$2" >/dev/null 2>&1 && return
    version=$("$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    rm -rf "$2" # Debian leaves half a folder where ensurepip is missing
    apt_install "python$version-venv" && "$1" -m venv "$2" && return
    stop "Python $version has no venv module." "On Debian or Ubuntu: sudo apt install python$version-venv"
}

if supported "$venv/bin/python" && "$venv/bin/python" -m pip --version >/dev/null 2>&1; then
    exit 0
fi
command -v python3 >/dev/null || apt_install python3 python3-venv || true
python=$(find_python)
if [ -n "$python" ]; then
    create "$python" "$venv"
elif command -v python3 >/dev/null; then
    echo "$(python3 --version) is not 3.11 or 3.12; fetching Python 3.12 with uv."
    create python3 .uv
    .uv/bin/python -m pip install -q --disable-pip-version-check "uv>=0.9,<1" &&
        .uv/bin/uv venv -q --clear --seed --python 3.12 "$venv" ||
        stop "Python 3.11 or 3.12 is needed, and it could not be fetched." \
            "Install it (macOS: brew install python@3.12; or from https://www.python.org) and run make again."
else
    stop "Python 3.11 or 3.12 is needed and there is no python3." \
        "Debian: sudo apt install python3 python3-venv · macOS: brew install python@3.12"
fi
