"""Try the page of `g2g serve` in a headless browser, and take its picture.

    python -m spacy g2g serve PIPELINE --port 8765 &
    python -m experiments.page_picture http://127.0.0.1:8765/ docs/images/page.png

The mouse drags a word to another head, and clicks set a root and a label. After each, the page must have
parsed again and have kept what was set. This needs the packages PySide6-Essentials, PySide6-Addons and
PySide6-WebEngine, which bring Chromium. Nothing else here uses them.
"""

import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("QTWEBENGINE_CHROMIUM_FLAGS", "--no-sandbox --disable-gpu")

TEXT = "Old men and women who live near the lake with boats fish."
#: What the page knows of its first sentence.
STATE = """(sentences.length && {words: sentences[0].words, heads: sentences[0].heads,
  deps: sentences[0].deps, fixed: sentences[0].fixed, changed: [...sentences[0].changed],
  conllu: $("conllu").textContent, error: $("error").textContent})"""
CENTRE = """(() => {{
  const text = document.querySelector('text.{kind}[data-word="{word}"]'), box = text.getBoundingClientRect();
  return [box.x + box.width / 2, box.y + box.height / 2]; }})()"""


class Browser:
    """A window of Chromium that shows a page, without a screen."""

    def __init__(self, url: str, width: int = 820, height: int = 560) -> None:
        from PySide6.QtCore import QUrl
        from PySide6.QtWebEngineWidgets import QWebEngineView
        from PySide6.QtWidgets import QApplication

        self.app = QApplication.instance() or QApplication(sys.argv[:1])
        self.view = QWebEngineView()
        self.view.resize(width, height)
        self.n_scripts = 0
        loaded: list[bool] = []
        self.view.loadFinished.connect(loaded.append)
        self.view.load(QUrl(url))
        self.view.show()
        self.wait(lambda: bool(loaded))

    def run(self, script: str) -> Any:
        """Return the value of a script in the page, by way of the page's title."""
        self.n_scripts += 1
        number = self.n_scripts
        self.view.page().runJavaScript(f"document.title = JSON.stringify([{number}, {script}])")
        self.wait(lambda: self.view.title().startswith(f"[{number},"))
        return json.loads(self.view.title())[1]

    def wait(self, is_true: Callable[[], bool], seconds: float = 30.0) -> None:
        """Let the page go on until something is true."""
        end = time.monotonic() + seconds
        while not is_true():
            if time.monotonic() > end:
                raise TimeoutError(f"waited {seconds} seconds")
            time.sleep(0.03)
            self.app.processEvents()

    def state(self) -> dict[str, Any]:
        """Return what the page knows of its first sentence, {} without one."""
        return self.run(STATE) or {}

    def after(self, act: Callable[[], None]) -> dict[str, Any]:
        """Do something, and return the state when it is another one."""
        before = self.state()
        act()
        self.wait(lambda: self.state() != before)
        return self.state()

    def mouse(self, *places: tuple[str, int]) -> None:
        """Press the mouse at the first place, move to the others, and release it.

        places: Kind of each text, "word" or "label", and the number of its word.
        """
        from PySide6.QtCore import QPoint, Qt
        from PySide6.QtTest import QTest

        points = [QPoint(*map(round, self.run(CENTRE.format(kind=kind, word=word)))) for kind, word in places]
        target = self.view.focusProxy()
        button = Qt.MouseButton.LeftButton
        QTest.mousePress(target, button, Qt.KeyboardModifier.NoModifier, points[0])
        for point in points:
            QTest.mouseMove(target, point)
            self.run("0")
        QTest.mouseRelease(target, button, Qt.KeyboardModifier.NoModifier, points[-1])


def try_page(url: str, picture: str) -> None:
    """Use a page with the mouse, check what it does, and write its picture."""
    browser = Browser(url)
    browser.wait(lambda: bool(browser.state()))
    before = browser.state()
    assert not before["error"]
    browser.run(f"($('text').value = {json.dumps(TEXT)}, $('form').requestSubmit(), 0)")
    browser.wait(lambda: browser.state()["words"] != before["words"])
    first = browser.state()
    assert first["words"] == [*TEXT.removesuffix(".").split(), "."]

    word = first["words"].index("boats")
    target = first["words"].index("live" if first["heads"][word] != first["words"].index("live") else "lake")
    dragged = browser.after(lambda: browser.mouse(("word", word), ("word", target)))
    assert dragged["heads"][word] == target
    assert dragged["fixed"]["heads"] == {str(word): target}
    assert word in dragged["changed"]
    browser.run("($('doubt').value = 0.99, $('doubt').dispatchEvent(new Event('input')), 0)")
    browser.run("(scrollTo(0, 0), new Promise(requestAnimationFrame), 0)")
    browser.view.grab().save(picture)

    browser.mouse(("label", word))
    browser.wait(lambda: browser.run("document.querySelectorAll('select').length") == 2)
    choose = "label.value = 'obl', label.dispatchEvent(new Event('change')), 0"
    script = f"(label => ({choose}))(document.querySelectorAll('select')[1])"
    labelled = browser.after(lambda: browser.run(script))
    assert (labelled["heads"][word], labelled["deps"][word]) == (target, "obl")

    browser.mouse(("word", target))
    browser.wait(lambda: bool(browser.run("!!document.querySelector('text.word.picked')")))
    rooted = browser.after(lambda: browser.mouse(("word", target)))
    assert rooted["fixed"]["heads"] == {str(word): target, str(target): target}
    assert [i for i, head in enumerate(rooted["heads"]) if head == i] == [target]
    rows = [row.split("\t") for row in rooted["conllu"].splitlines() if row[:1].isdigit()]
    assert rows[target][6] == "0"
    print("The page did what the mouse said:", rooted["heads"], rooted["deps"])


if __name__ == "__main__":
    try_page(sys.argv[1], sys.argv[2])
