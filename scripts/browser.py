"""Find, or install, the Chromium that the tests drive, and prove that it starts.

    python -m scripts.browser

Taken in this order: $PLAYGROUND_CHROMIUM, a Chromium or Chrome on the PATH, Debian's own
package (as root, or by a sudo that asks no password), Playwright's download.
Exits with 1 and says what to do where none of them can be had.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

from playwright.sync_api import Error, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ARGS = [
    "--no-sandbox",  # Chromium refuses to run as root with one
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
HELP = """No Chromium for the browser tests: {reason}
Install one and run make again:
  Debian, Ubuntu   sudo apt install chromium fonts-noto-cjk
  elsewhere        .venv/bin/python -m playwright install chromium
or name one:       PLAYGROUND_CHROMIUM=/path/to/chromium make test"""


def find() -> str | None:
    """The path of an installed Chromium; None stands for Playwright's own.

    A name on the PATH counts only if it answers: Ubuntu's may be an empty shell.
    """
    named = os.environ.get("PLAYGROUND_CHROMIUM")
    if named:
        return named
    for path in filter(None, map(shutil.which, NAMES)):
        if succeeds(path, "--version"):
            return path
    return None


def starts() -> str:
    """Launch the browser in a process of its own; '' if that worked, else why it did not."""
    launch = [sys.executable, "-m", "scripts.browser", "--launch"]
    done = subprocess.run(launch, capture_output=True, text=True)
    return "" if done.returncode == 0 else done.stderr.strip().splitlines()[0]


def launch() -> None:
    """Start the browser and close it. Exits with Playwright's reason if it does not start."""
    try:
        with sync_playwright() as playwright:
            playwright.chromium.launch(executable_path=find(), args=ARGS).close()
    except Error as error:
        sys.exit(error.message)


def succeeds(*command: str) -> bool:
    """Run it quietly; True if it exits with 0."""
    try:
        return subprocess.run(command, capture_output=True, timeout=60).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def apt_install(*packages: str) -> bool:
    """Debian's packages, where apt-get is there and allowed; True if they are installed now."""
    root = ["env"] if os.geteuid() == 0 else ["sudo", "-n", "env"]
    apt = [*root, "DEBIAN_FRONTEND=noninteractive", "apt-get"]
    if not shutil.which("apt-get") or not succeeds(*root, "true"):
        return False
    print("Installing Debian packages:", *packages, flush=True)
    install = [*apt, "install", "-y", "-qq", "--no-install-recommends", *packages]
    updated = subprocess.run([*apt, "update", "-qq"]).returncode == 0
    return updated and subprocess.run(install, stdout=subprocess.DEVNULL).returncode == 0


def install_browser() -> None:
    """Debian's Chromium, else Playwright's; whether it starts is for `starts` to say."""
    driver = "libatomic1"  # Playwright's own process needs it; the smallest Debian lacks it
    if apt_install("chromium", driver):
        return
    with_system_packages = ["--with-deps"] if apt_install(driver) else []
    playwright = [sys.executable, "-m", "playwright", "install", "chromium"]
    subprocess.run([*playwright, *with_system_packages])


def install_font() -> None:
    """A font with Hangul, so that Korean pages show letters and not boxes. Linux alone may lack one."""
    if not sys.platform.startswith("linux"):
        return
    if shutil.which("fc-list"):
        fonts = subprocess.run(["fc-list", ":lang=ko"], capture_output=True, text=True)
        if fonts.stdout.strip():
            return
    if not apt_install("fonts-noto-cjk", "fontconfig"):
        print("No Korean font found: install fonts-noto-cjk to see Korean in screenshots.")


def main() -> int:
    if "--launch" in sys.argv:
        launch()
        return 0
    install_font()
    if starts() and "PLAYGROUND_CHROMIUM" not in os.environ:
        install_browser()
    if reason := starts():
        print(HELP.format(reason=reason), file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
