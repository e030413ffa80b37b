"""A Chromium without a screen, spoken to by its DevTools protocol through a pipe."""

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

#: The system's browser; Chrome and Chromium speak the same protocol.
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
#: Keys that have no letter, with their codes.
KEYS = {"Enter": 13, "Escape": 27, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "Tab": 9}
CONTROL = 2


class Browser:
    """A browser with one tab.

    profile: Folder with what it keeps.
    size: Width and height of the window.
    """

    def __init__(self, profile: Path, *, size: tuple[int, int] = (1280, 900), options: tuple[str, ...] = ()):
        assert BROWSER is not None
        to_browser, self._to_browser = os.pipe()
        self._from_browser, from_browser = os.pipe()
        command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe"]
        command += [
            f"--user-data-dir={profile}",
            f"--window-size={size[0]},{size[1]}",
            *options,
            "about:blank",
        ]
        # The protocol wants the numbers 3 and 4.
        shell = f'exec "$@" 3<&{to_browser} 4>&{from_browser}'
        self.process = subprocess.Popen(
            ["bash", "-c", shell, "bash", *command],
            pass_fds=(to_browser, from_browser),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        os.close(to_browser)
        os.close(from_browser)
        self._read = b""
        self._n_sent = 0
        self._session: str | None = None
        #: Address of the page that was opened last.
        self.url = ""
        #: What the page has logged as an error.
        self.problems: list[str] = []
        targets = self.send("Target.getTargets")["targetInfos"]
        (page, *_) = (target["targetId"] for target in targets if target["type"] == "page")
        self._session = self.send("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.send(f"{domain}.enable")

    def send(self, method: str, **parameters: Any) -> Any:
        """The answer to a command of the protocol."""
        self._n_sent += 1
        message = {"id": self._n_sent, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._to_browser, json.dumps(message).encode() + b"\0")
        while True:
            found = self._next()
            if found.get("id") == self._n_sent:
                assert "error" not in found, (method, found)
                return found["result"]
            self._note(found)

    def _next(self) -> Any:
        while b"\0" not in self._read:
            chunk = os.read(self._from_browser, 1 << 16)
            assert chunk, "the browser has gone"
            self._read += chunk
        message, _, self._read = self._read.partition(b"\0")
        return json.loads(message)

    def _note(self, event: Any) -> None:
        details = event.get("params", {})
        if event.get("method") == "Runtime.exceptionThrown":
            self.problems.append(str(details["exceptionDetails"].get("exception", details)))
        elif event.get("method") == "Log.entryAdded" and details["entry"]["level"] == "error":
            self.problems.append(f"{details['entry'].get('url')}: {details['entry']['text']}")
        elif event.get("method") == "Page.javascriptDialogOpening":
            self._n_sent += 1
            answer = {"id": self._n_sent, "method": "Page.handleJavaScriptDialog", "params": {"accept": True}}
            os.write(self._to_browser, json.dumps({**answer, "sessionId": self._session}).encode() + b"\0")

    def run(self, script: str) -> Any:
        """The value of a script in the page."""
        found = self.send("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def wait(self, script: str, seconds: float = 120.0) -> Any:
        """The value of a script as soon as it is true."""
        end = time.monotonic() + seconds
        while (found := self.run(script)) in (None, False, 0, ""):
            assert time.monotonic() < end, f"waited {seconds} seconds for {script}: {self.text('#error')}"
            time.sleep(0.02)
        return found

    def open(self, url: str) -> None:
        """Load a page."""
        self.url = url if url.startswith("http") else self.url
        self.send("Page.navigate", url=url)
        self.wait("document.readyState === 'complete'")

    def text(self, selector: str) -> str:
        """The text of an element."""
        return str(self.run(f"document.querySelector({json.dumps(selector)})?.textContent ?? ''"))

    def center(self, selector: str) -> tuple[float, float]:
        """The center of an element in the window."""
        script = f"(({{x, y, width, height}}) => [x + width / 2, y + height / 2])\
(document.querySelector({json.dumps(selector)}).getBoundingClientRect())"
        x, y = self.run(script)
        return x, y

    def mouse(self, *selectors: str) -> None:
        """Press the mouse at the first element, move it to the others, and release it."""
        points = [self.center(selector) for selector in selectors]
        for kind, (x, y) in zip(
            ["mouseMoved", "mousePressed", *["mouseMoved"] * (len(points) - 1), "mouseReleased"],
            [points[0], *points, points[-1]],
            strict=True,
        ):
            button = "none" if kind == "mouseMoved" and (x, y) == points[0] else "left"
            self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button=button, buttons=1, clickCount=1)

    def press(self, *keys: str, modifiers: int = 0) -> None:
        """Press keys: letters, or names of others."""
        for key in keys:
            code = KEYS.get(key, ord(key[0].upper()))
            named = {"key": key, "windowsVirtualKeyCode": code, "modifiers": modifiers}
            if key == "Enter":
                named["text"] = "\r"
            elif key not in KEYS and not modifiers:
                named["text"] = key
            self.send("Input.dispatchKeyEvent", type="keyDown" if "text" in named else "rawKeyDown", **named)
            self.send("Input.dispatchKeyEvent", type="keyUp", **named)

    def give_file(self, selector: str, path: Path) -> None:
        """Choose a file as the dialog of a field would."""
        root = self.send("DOM.getDocument")["root"]["nodeId"]
        node = self.send("DOM.querySelector", nodeId=root, selector=selector)["nodeId"]
        self.send("DOM.setFileInputFiles", nodeId=node, files=[str(path)])

    def saved(self, act: Callable[[], None], folder: Path) -> Path:
        """The file that the page saves when something is done."""
        folder.mkdir(exist_ok=True)
        before = set(folder.iterdir())
        self.send("Page.setDownloadBehavior", behavior="allow", downloadPath=str(folder))
        act()
        end = time.monotonic() + 120
        while not (new := [path for path in set(folder.iterdir()) - before if path.suffix == ".conllu"]):
            assert time.monotonic() < end, "nothing was saved"
            self.run("0")
            time.sleep(0.02)
        return new[0]

    def kill(self) -> None:
        """End the browser at once, as a crash does."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        os.close(self._to_browser)
        os.close(self._from_browser)
