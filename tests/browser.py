"""Headless Chromium for tests of pages, which are opened from disk without network; all errors are collected.

It is controlled by its own DevTools protocol over a pair of pipes, so neither a driver nor a port is needed.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

INSTALL = "no Chromium here; on Debian: apt-get install chromium"
# Chromium's own services must not use the network, and no host name resolves.
OPTIONS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-extensions",
    "--hide-scrollbars",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--remote-debugging-pipe",
)
PATIENCE_S = 60


class Page:
    """A page in a browser, with its errors (logged, thrown, of loading), warnings, and requested addresses."""

    def __init__(self, browser: Browser, session: str) -> None:
        self._browser, self._session = browser, session
        self.problems: list[str] = []
        self.warnings: list[str] = []
        self.requests: list[str] = []
        self._loaded = self._scripts = False

    def start(self) -> None:
        """Subscribe to the page's events, and disconnect it from the network."""
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        off = {"offline": True, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0}
        self.call("Network.emulateNetworkConditions", **off)

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Call a command of the protocol."""
        return self._browser.call(method, self._session, **parameters)

    def heard(self, method: str, event: dict[str, Any]) -> None:
        """Handle an event of the protocol."""
        if method == "Page.loadEventFired":
            self._loaded = True
        elif method == "Runtime.exceptionThrown":
            details = event["exceptionDetails"]
            self.problems.append(details.get("exception", {}).get("description") or details["text"])
        elif method == "Runtime.consoleAPICalled" and event["type"] in ("error", "warning", "assert"):
            said = " ".join(str(item.get("value", item.get("description"))) for item in event["args"])
            (self.warnings if event["type"] == "warning" else self.problems).append(said)
        elif method == "Log.entryAdded" and event["entry"]["level"] in ("error", "warning"):
            said = f"{event['entry']['source']}: {event['entry']['text']}"
            (self.warnings if event["entry"]["level"] == "warning" else self.problems).append(said)
        elif method == "Network.requestWillBeSent":
            self.requests.append(event["request"]["url"])
        elif method == "Network.loadingFailed":
            self.problems.append(f"loading failed: {event['errorText']}")

    def open(self, path: Path, *, fragment: str = "", script: bool = True) -> None:
        """Load a file, with or without scripts, and wait for it."""
        self.call("Emulation.setScriptExecutionDisabled", value=not script)
        self._go("about:blank")  # else another anchor of the same page would not reload it
        self._scripts = script
        self._go(path.resolve().as_uri() + (f"#{fragment}" if fragment else ""))
        self.settle()

    def _go(self, url: str) -> None:
        self._loaded = False
        self.call("Page.navigate", url=url)
        end = time.monotonic() + PATIENCE_S
        while not self._loaded:
            assert time.monotonic() < end, f"{url} was not loaded"
            self._browser.listen(0.1)

    def settle(self) -> None:
        """Wait until all pending work of the page has been done and its events have been received."""
        if not self._scripts:  # then nothing is pending
            return
        wait = "new Promise(done => setTimeout(() => requestAnimationFrame(() => setTimeout(done)), 20))"
        self.call("Runtime.evaluate", expression=wait, awaitPromise=True)
        self._browser.listen(0.05)

    def get(self, expression: str) -> Any:
        """Return the value of an expression in the page."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def press(self, key: str, code: int, text: str = "") -> None:
        """Press and release a key."""
        for kind in ("keyDown", "keyUp"):
            typed = {"text": text} if text and kind == "keyDown" else {}
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, **typed)
        self.settle()

    def resize(self, width: int, height: int = 900) -> None:
        """Set the width and height of the window, in CSS pixels."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.call("Emulation.setDeviceMetricsOverride", **size)

    def picture(self) -> bytes:
        """Return a PNG of the window."""
        return base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])


class Browser:
    """A separate Chromium, in which pages are opened one after another."""

    def __init__(self, program: str) -> None:
        self._profile = tempfile.mkdtemp(prefix="chromium-")
        to_browser, self._write = os.pipe()
        self._read, from_browser = os.pipe()
        # It reads commands from descriptor 3 and writes answers to 4.
        moved = f'exec "$@" 3<&{to_browser} 4>&{from_browser}'
        self._process = subprocess.Popen(
            ["bash", "-c", moved, "bash", program, *OPTIONS, f"--user-data-dir={self._profile}", "about:blank"],
            pass_fds=(to_browser, from_browser),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        os.close(to_browser)
        os.close(from_browser)
        self._pages: dict[str, Page] = {}
        self._answers: dict[int, dict[str, Any]] = {}
        self._rest, self._count = b"", 0

    def call(self, method: str, session: str | None = None, **parameters: Any) -> dict[str, Any]:
        """Call a command of the protocol and return its answer; meanwhile events are passed to their pages."""
        self._count += 1
        number = self._count
        message = {"id": number, "method": method, "params": parameters}
        message |= {"sessionId": session} if session else {}
        os.write(self._write, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + PATIENCE_S
        while number not in self._answers:
            assert time.monotonic() < end, f"no answer to {method}"
            self.listen(1)
        answer = self._answers.pop(number)
        assert "error" not in answer, f"{method}: {answer['error']}"
        return answer["result"]

    def listen(self, seconds: float) -> None:
        """Receive events until the browser has been silent for this long."""
        while select.select([self._read], [], [], seconds)[0]:
            chunk = os.read(self._read, 1 << 20)
            assert chunk, "the browser has ended"
            *messages, self._rest = (self._rest + chunk).split(b"\0")
            for message in map(json.loads, messages):
                if "id" in message:
                    self._answers[message["id"]] = message
                elif message.get("sessionId") in self._pages:
                    self._pages[message["sessionId"]].heard(message["method"], message["params"])
            if any("id" in json.loads(message) for message in messages):
                return

    @contextlib.contextmanager
    def page(self) -> Iterator[Page]:
        """A new page, which is closed afterwards."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self._pages[session] = page = Page(self, session)
        try:
            page.start()
            yield page
        finally:
            del self._pages[session]
            self.call("Target.closeTarget", targetId=target)

    def close(self) -> None:
        """Stop the browser and remove its profile."""
        with contextlib.suppress(AssertionError, OSError):
            self.call("Browser.close")
        try:
            self._process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._read)
        os.close(self._write)
        shutil.rmtree(self._profile, ignore_errors=True)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """The browser of a test session; tests are skipped if there is none."""
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        # If the tests must run, as in CI, this is an error.
        assert "SCALESTUDY_NEED_CHROMIUM" not in os.environ, INSTALL
        pytest.skip(INSTALL)
    made = Browser(program)
    try:
        yield made
    finally:
        made.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A new page."""
    with browser.page() as made:
        yield made
