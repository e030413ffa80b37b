"""The page in a browser: a file is opened, corrected, kept and saved."""

import asyncio
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from spacy_g2g.formats.conllu import ConlluSentence, read_conllu, write_conllu

from .browser import BROWSER, CONTROL, Browser
from .conftest import make_pipeline, make_service, post, served

pytestmark = [
    pytest.mark.slow,
    # The tiny encoder has few positions.
    pytest.mark.filterwarnings("ignore:.*W80[23]"),
    pytest.mark.skipif(BROWSER is None, reason="there is no Chromium to try the page with"),
]
ENGLISH = Path(__file__).parents[2] / "assets" / "english" / "train.conllu"
MARK = "Corrected=Yes"
#: What the reader leaves alone: a byte order mark, line ends, comments, empty nodes, DEPS, MISC.
ODD = (
    "\ufeff# newdoc id = d\r\n# text = \u05d4\u05d9\u05dc\u05d3 \u05d4\u05dc\u05da.\r\n"
    "1-2\t\u05d4\u05d9\u05dc\u05d3\t_\t_\t_\t_\t_\t_\t_\t_\r\n"
    "1\t\u05d4\t\u05d4\tDET\t_\t_\t2\tdet\t2:det\t_\r\n"
    "2\t\u05d9\u05dc\u05d3\t_\tNOUN\t_\t_\t3\tnsubj\t_\tRef=1|X\r\n"
    "2.1\tx\t_\t_\t_\t_\t_\t_\t3:dep\t_\r\n"
    "3\t\u05d4\u05dc\u05da\t_\t_\t_\t_\t0\troot\t_\tSpaceAfter=No\r\n"
    "4\t.\t_\t_\t_\t_\t3\tpunct\t_\t_\r\n\r\n\r\n"
    "1\t\u05e9\u05dc\u05d5\u05dd\t_\t_\t_\t_\t_\t_\t_\t_"
)


def word(number: int) -> str:
    """The selector of a word in the picture, which counts from 1."""
    return f'text.word[data-word="{number - 1}"]'


@pytest.fixture(scope="module")
def app():
    service = make_service(make_pipeline())
    yield service
    service.state.worker.close()


@pytest.fixture(scope="module")
def url(app) -> Iterator[str]:
    with served(app) as address:
        yield address


@pytest.fixture
def start(url: str, tmp_path: Path) -> Iterator[Callable[..., Browser]]:
    """Starts browsers that show the page and have the same profile."""
    started: list[Browser] = []

    def begin(address: str = url, **settings: Any) -> Browser:
        started.append(Browser(tmp_path / "profile", **settings))
        started[-1].open(address)
        started[-1].wait("document.querySelector('text.word')")
        return started[-1]

    yield begin
    for browser in started:
        if browser.process.poll() is None:
            problems = [problem for problem in browser.problems if "status of 4" not in problem]
            browser.kill()
            assert not problems


@pytest.fixture
def start_with(start: Callable[..., Browser], tmp_path: Path) -> Callable[[int | str | bytes], Browser]:
    """Starts a browser with an open file: a number of sentences of our treebank, or a text."""

    def begin(content: int | str | bytes) -> Browser:
        path = tmp_path / "own.conllu"
        if isinstance(content, int):
            make_file(path, content)
        else:
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        browser = start()
        open_file(browser, path)
        return browser

    return begin


def open_file(browser: Browser, path: Path) -> None:
    """Open a file, and wait until the first sentence is parsed."""
    n = len(list(read_conllu(path, trees="any")))
    browser.give_file("#file", path)
    browser.wait(f"document.title.startsWith('{path.name} ')")
    assert browser.text("#place").endswith(f"/ {n}")
    wait_kept(browser)


def wait_place(browser: Browser, place: str) -> None:
    browser.wait(f"document.querySelector('#place').textContent === {place!r}")


def wait_kept(browser: Browser) -> None:
    browser.wait("document.querySelector('#state').textContent === 'kept'")


def after(browser: Browser, act: Callable[[], object], kept: bool = True) -> None:
    """Correct something, and wait until it is kept."""
    before = browser.text("#conllu")
    act()
    browser.wait(f"document.querySelector('#conllu').textContent !== {before!r}")
    if kept:
        wait_kept(browser)


def shown(browser: Browser) -> ConlluSentence:
    """The sentence that the page shows."""
    (sentence,) = read_conllu(browser.text("#conllu").splitlines(keepends=True), trees="partial")
    return sentence


def arcs(sentence: ConlluSentence) -> list[tuple[int | None, str]]:
    return [(row.head, row.deprel) for row in sentence.words]


def corrected(sentence: ConlluSentence) -> list[int]:
    """Words that are set by hand."""
    return [i for i, row in enumerate(sentence.words, start=1) if MARK in row.misc.split("|")]


def make_file(path: Path, n: int) -> list[str]:
    """Write sentences of our English treebank to a file, and return them."""
    sentences = [sentence for sentence, _ in zip(read_conllu(ENGLISH), range(n), strict=False)]
    path.write_bytes("".join(write_conllu(sentences)).encode())
    return [str(sentence) for sentence in sentences]


def test_300_sentences_are_corrected_kept_and_saved(start, tmp_path: Path):
    before = make_file(tmp_path / "own.conllu", 300)
    browser = start()
    open_file(browser, tmp_path / "own.conllu")
    browser.press("n", "n")
    wait_place(browser, "3 / 300")
    assert str(shown(browser)) == before[2]
    after(browser, lambda: browser.press("ArrowRight", "Enter", "Enter"))
    root = shown(browser)
    assert root.words[1].head == 0
    assert corrected(root) == [2]

    browser.open("about:blank")
    browser.open(browser.url)
    wait_place(browser, "3 / 300")
    assert str(shown(browser)) == str(root)
    for _ in range(297):
        browser.press("n")
    wait_place(browser, "300 / 300")
    after(browser, lambda: browser.press("k"))
    last = shown(browser)
    assert corrected(last) == [1]
    after(browser, lambda: browser.press("a"))
    assert corrected(shown(browser)) == [*range(1, len(last.words) + 1)]
    after(browser, lambda: browser.press("z", modifiers=CONTROL))
    assert str(shown(browser)) == str(last)
    after(browser, lambda: browser.press("z", modifiers=CONTROL))
    assert str(shown(browser)) == before[299]
    after(browser, lambda: browser.press("y", modifiers=CONTROL))

    saved = browser.saved(lambda: browser.press("s", modifiers=CONTROL), tmp_path)
    assert saved.name == "own.corrected.conllu"
    expected = [*before[:2], str(root), *before[3:299], str(last)]
    assert saved.read_bytes() == "".join(expected).encode()
    only = browser.saved(lambda: browser.mouse("#save-set"), tmp_path)
    assert only.name == "own.set.conllu"
    assert [arcs(sentence) for sentence in read_conllu(only)] == [
        [arc if i in corrected(sentence) else (None, "_") for i, arc in enumerate(arcs(sentence), start=1)]
        for sentence in (root, last)
    ]
    open_file(browser, saved)
    browser.press("n", "n")
    browser.wait("document.querySelector('#about').textContent.includes(' 1 of ')")
    assert browser.text("#list li:nth-child(300) i").startswith("1/")


def test_what_is_kept_survives_the_end_of_the_browser(start, start_with):
    browser = start_with(4)
    browser.press("n")
    after(browser, lambda: browser.press("ArrowRight", "k"))
    found = str(shown(browser))
    browser.kill()
    again = start()
    wait_place(again, "2 / 4")
    assert str(shown(again)) == found


def test_bytes_that_are_not_corrected_stay(start_with, tmp_path: Path):
    browser = start_with(ODD)
    assert browser.saved(lambda: browser.mouse("#save"), tmp_path).read_bytes() == ODD.encode()
    assert "\u05d4\u05d9\u05dc\u05d3" in [
        browser.text(f"text.upos:nth-last-of-type({n})") for n in (1, 2, 3)
    ], "the multiword token is shown"
    first, second = (browser.center(word(i))[0] for i in (1, 2))
    assert first > second, "words go from right to left"
    after(browser, lambda: browser.press("ArrowLeft", "k"))
    browser.press("n")
    browser.wait("document.querySelector('#about').textContent.includes('0 of 1')")
    saved = browser.saved(lambda: browser.mouse("#save"), tmp_path / "2").read_bytes()
    assert saved.decode() == ODD.replace("Ref=1|X\r", f"Ref=1|X|{MARK}\r")
    after(browser, lambda: browser.press("k"))
    saved = browser.saved(lambda: browser.mouse("#save"), tmp_path / "3").read_bytes()
    assert saved.decode().endswith(f"\t0\troot\t_\t{MARK}")


def rows(n: int) -> bytes:
    """A sentence without a tree."""
    return "".join(f"{i}\tw{i}" + "\t_" * 8 + "\n" for i in range(1, n + 1)).encode() + b"\n"


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"1\ta\n", "bad.conllu, line 1: expected 10 columns"),
        (b"\n1\ta\t_\t_\t_\t_\t7\tdet\t_\t_\n\n", "bad.conllu, line 2"),
        (b"\xff\n", "bad.conllu is not UTF-8. Expected CoNLL-U."),
        (b"\n\n", "bad.conllu has no sentences. Expected CoNLL-U."),
        ((b"1\ta" + b"\t_" * 8 + b"\n\n") * 20_001, "has 20001 sentences. Expected 20000 sentences at most"),
        (rows(1001), "has a sentence 1 of 1001 words. Expected 20000 sentences at most, of 1000 words each."),
    ],
    ids=lambda value: value[:30] if isinstance(value, str) else "",
)
def test_a_bad_file_is_refused_and_the_open_one_stays(
    start_with, tmp_path: Path, content: bytes, problem: str
):
    (tmp_path / "bad.conllu").write_bytes(content)
    browser = start_with(2)
    after(browser, lambda: browser.press("k"))
    found = str(shown(browser))
    browser.give_file("#file", tmp_path / "bad.conllu")
    browser.wait("document.querySelector('#error').textContent")
    assert problem in browser.text("#error")
    assert str(shown(browser)) == found
    assert browser.text("#place") == "1 / 2"


def test_a_file_is_dropped_on_the_page(start):
    browser = start()
    browser.run(
        """(() => {
          const dropped = new DataTransfer();
          const rows = "1\\ta" + "\\t_".repeat(8) + "\\n\\n";
          dropped.items.add(new File([rows.repeat(7)], "own.conllu"));
          document.dispatchEvent(new DragEvent("drop", {dataTransfer: dropped, cancelable: true}));
        })()"""
    )
    wait_place(browser, "1 / 7")
    wait_kept(browser)


def test_the_least_certain_words_of_the_file_come_first(start_with, app, tmp_path: Path):
    make_file(tmp_path / "gold.conllu", 5)
    bare = [
        sentence.replace(head=["_"] * len(sentence.words), deprel=["_"] * len(sentence.words))
        for sentence in read_conllu(tmp_path / "gold.conllu")
    ]
    sure = []
    for number, reply in enumerate(post(app, "/parse", *({"rows": str(sentence)} for sentence in bare)), 1):
        (parse,) = reply.json()["sentences"]
        sure += [(p, number, i) for i, p in enumerate(parse["labeled"])]
    browser = start_with("".join(map(str, bare)))
    for _, number, i in sorted(sure)[:3]:
        browser.press("u")
        browser.wait(
            f"document.querySelector('#place').textContent === '{number} / 5' "
            f"&& document.activeElement.dataset.word === '{i}'"
        )


def test_a_key_ends_the_search_for_the_least_certain_word(start_with, app, monkeypatch):
    browser = start_with(30)
    ask = app.state.worker.ask

    async def ask_slowly(tasks: Any) -> Any:
        await asyncio.sleep(0.1)
        return await ask(tasks)

    monkeypatch.setattr(app.state.worker, "ask", ask_slowly)
    browser.press("u")
    browser.wait("document.querySelector('#suggestion').textContent.startsWith('Parsing sentence')")
    browser.press("n")
    wait_place(browser, "2 / 30")
    time.sleep(1.0)
    monkeypatch.setattr(app.state.worker, "ask", ask)
    browser.press("ArrowRight")
    browser.wait("document.activeElement.dataset.word === '1'")
    assert not browser.text("#suggestion").startswith("Parsing")
    time.sleep(1.0)
    assert browser.text("#place") == "2 / 30"
    assert browser.run("document.activeElement.dataset.word") == "1"


def test_the_slider_starts_at_a_share_of_the_arcs_until_it_is_moved(start_with, app):
    browser = start_with(rows(20) + rows(30))
    browser.wait("document.querySelectorAll('path.tip').length === 20")
    (reply,) = post(app, "/parse", {"rows": rows(20).decode()})
    (parse,) = reply.json()["sentences"]
    expected = int(100 * sorted(parse["labeled"])[3]) / 100
    browser.wait(f"document.querySelector('#below').textContent === '{expected:.2f}'")
    assert browser.run("document.querySelectorAll('g.doubtful').length") <= 3
    browser.run("$ = document.querySelector('#doubt'), $.value = 1, $.dispatchEvent(new Event('input')), 0")
    assert browser.run("document.querySelectorAll('g.doubtful').length") == 20
    browser.press("n")
    browser.wait("document.querySelectorAll('g.doubtful').length === 30")
    assert browser.text("#below") == "1.00"


def test_a_label_that_nothing_else_has_is_marked(start_with):
    two = rows(3).decode().replace("2\tw2" + "\t_" * 5, "2\tw2" + "\t_" * 4 + "\t1")
    two = two.replace("\t1\t_\t", "\t1\town\t")
    browser = start_with(two)
    browser.wait("document.querySelectorAll('path.tip').length === 3")
    assert browser.run("document.querySelectorAll('g.strange').length") == 1
    browser.press("ArrowRight")
    assert "does not know the label own" in browser.text("#suggestion")
    browser.press("ArrowRight", "l")
    after(browser, lambda: label(browser, "nddud"))
    assert browser.run("document.querySelectorAll('g.strange').length") == 2
    assert (
        browser.text("#suggestion") == "The parser does not know the label nddud, and no other word has it."
    )
    after(browser, lambda: (browser.press("l"), label(browser, "own")))
    assert browser.run("document.querySelectorAll('g.strange text.label[data-word=\"2\"]').length") == 0


def test_what_the_browser_keeps_may_be_damaged(start_with):
    browser = start_with(3)
    browser.press("n")
    after(browser, lambda: browser.press("k"))
    keep = "import('/store.js').then(async store => {{const [{{key}}] = await store.keptFiles(); {}}})"
    browser.run(
        keep.format("for (const [n, junk] of [[0, 5], [2, {}], [-1, 'x']]) await store.keep(key, n, junk)")
    )
    browser.open(browser.url)
    browser.wait("document.querySelector('#error').textContent")
    assert browser.text("#error").startswith(
        "2 of the corrections that this browser keeps for own.conllu are"
    )
    assert browser.text("#place") == "1 / 3"
    assert browser.text("#list li:nth-child(2) i").startswith("1/")
    # The file that was opened last can't be opened any more.
    browser.run(keep.format("await store.keepFile({key: 'k', name: 'bad', text: '1\\ta\\n'})"))
    browser.run(keep.format("await store.keepFile({key: 'l', name: 5})"))
    browser.open(browser.url)
    browser.wait("document.querySelector('#error').textContent && document.querySelector('text.word')")
    assert browser.text("#error") == "Sentence 1 of bad is not CoNLL-U."
    browser.open(browser.url)
    wait_place(browser, "1 / 3")


def test_words_without_trees_get_them_before_they_are_kept(start_with, tmp_path: Path):
    bare = rows(5).decode()
    part = bare.replace("1\tw1" + "\t_" * 5, "1\tw1" + "\t_" * 4 + "\t4").replace("\t4\t_\t", "\t4\tdep\t")
    browser = start_with(bare + part + bare)
    browser.press("a", "a")
    browser.wait("document.querySelector('#list li:nth-child(2) i').textContent === '\u2713'")
    wait_kept(browser)
    saved = browser.saved(lambda: browser.mouse("#save"), tmp_path)
    first, second, third = read_conllu(saved, trees="partial")
    assert [corrected(sentence) for sentence in (first, second, third)] == [[1, 2, 3, 4, 5]] * 2 + [[]]
    assert not {None} & {word.head for word in (*first.words, *second.words)}
    assert arcs(second)[0] == (4, "dep")
    assert str(third) == bare


def test_a_correction_in_another_tab_is_taken_over(start_with):
    browser = start_with(2)
    after(browser, lambda: browser.press("k"))
    assert corrected(shown(browser)) == [1]
    browser.run(
        """import("/store.js").then(async store => {
          const [{key}] = await store.keptFiles(), edits = await store.keptEdits(key);
          await store.keep(key, 0, {...edits.get(0), set: [0, 1]});
        })"""
    )
    after(browser, lambda: browser.run("document.dispatchEvent(new Event('visibilitychange')), 0"))
    assert corrected(shown(browser)) == [1, 2]


def test_keys_act_on_keyboards_of_other_scripts(start_with):
    browser = start_with(2)
    browser.send("Input.dispatchKeyEvent", type="keyDown", key="\u0442", code="KeyN", text="\u0442")
    wait_place(browser, "2 / 2")


def test_a_later_choice_wins_and_the_parser_answers_each(start, app):
    browser = start()
    n = len(shown(browser).words)
    after(browser, lambda: browser.mouse(word(2), word(4)))
    assert shown(browser).words[1].head == 4
    after(browser, lambda: browser.mouse(word(4), word(6)))
    assert [shown(browser).words[i].head for i in (1, 3)] == [4, 6]
    rows = shown(browser)
    heads, deps = {1: 3, 3: 5}, {1: rows.words[1].deprel, 3: rows.words[3].deprel}
    (reply,) = post(app, "/parse", {"rows": str(rows), "constraints": {"heads": heads, "deps": deps}})
    (parse,) = reply.json()["sentences"]
    assert [i if row.head == 0 else row.head - 1 for i, row in enumerate(rows.words)] == parse["heads"]
    assert [row.deprel for row in rows.words] == parse["deps"]
    # The word that made way for the last choice is free again.
    after(browser, lambda: browser.mouse(word(6), word(2)))
    assert shown(browser).words[5].head == 2
    assert corrected(shown(browser)) == [2, 6]
    after(browser, lambda: (browser.mouse(word(n)), browser.mouse(word(n))))
    after(browser, lambda: (browser.mouse(word(1)), browser.mouse(word(1))))
    roots = [i for i, row in enumerate(shown(browser).words, start=1) if row.head == 0]
    assert roots == [1]
    assert n not in corrected(shown(browser))
    assert browser.text("#error") == ""


def test_a_correction_leaves_arcs_of_the_file_that_the_parser_does_not_share(start_with):
    browser = start_with(6)
    browser.press("n", "n", "n")
    browser.wait("document.querySelectorAll('g.doubtful').length > 4")
    before = arcs(shown(browser))
    after(browser, lambda: (browser.mouse(word(2)), browser.press("l")) and label(browser, "nmod:desc"))
    found = shown(browser)
    assert arcs(found) == [*before[:1], (before[1][0], "nmod:desc"), *before[2:]]
    assert corrected(found) == [2]
    assert browser.run("document.activeElement.dataset.word") == "1"
    assert browser.text("#error") == ""
    # The parser's own arc is one key away.
    browser.press("ArrowRight")
    after(browser, lambda: browser.press("s"))
    assert corrected(shown(browser)) == [2, 3]
    assert arcs(shown(browser))[2] != before[2]


def label(browser: Browser, text: str) -> None:
    browser.send("Input.insertText", text=text)
    browser.press("Enter")


def test_lemma_and_part_of_speech_are_corrected(start_with):
    browser = start_with(1)
    browser.mouse(word(2))
    before = shown(browser)
    for field, text in (("#upos", "X"), ("#lemma", "of course")):
        after(browser, lambda field=field, text=text: (browser.mouse(field), fill(browser, field, text)))
    found = shown(browser)
    assert arcs(found) == arcs(before)
    assert (found.words[1].upos, found.words[1].lemma, corrected(found)) == ("X", "of course", [2])


def fill(browser: Browser, field: str, text: str) -> None:
    browser.run(f"document.querySelector({field!r}).select()")
    label(browser, text)


def test_a_long_sentence_stays_where_it_is_scrolled_and_scrolls_by_touch(start, tmp_path: Path):
    rows = [f"{i}\tword{i}\t_\t_\t_\t_\t{i - 1}\t{'dep' if i > 1 else 'root'}\t_\t_\n" for i in range(1, 69)]
    (tmp_path / "long.conllu").write_text("".join(rows) + "\n")
    browser = start(size=(500, 800))
    open_file(browser, tmp_path / "long.conllu")
    browser.run("document.querySelector('#tree').scrollLeft = 1500")
    place = "document.querySelector('#tree').scrollLeft"
    far = browser.run(
        "[...document.querySelectorAll('text.word')].findIndex(t => t.getBoundingClientRect().x > 100)"
    )
    browser.mouse(word(far + 1))
    assert abs(browser.run(place) - 1500) < 60
    stayed = browser.run(place)
    after(browser, lambda: browser.mouse(word(far + 2)))
    assert browser.run(place) == stayed
    assert browser.run("document.activeElement.dataset.word") == str(far)
    x, y = browser.center(word(far + 1))
    for i in range(11):
        touch = [{"x": x - 15 * i, "y": y}]
        browser.send("Input.dispatchTouchEvent", type="touchMove" if i else "touchStart", touchPoints=touch)
    browser.send("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
    browser.wait(f"{place} > {stayed} + 100")
    assert corrected(shown(browser)) == [far + 1], "a finger that scrolls corrects nothing"


def test_a_text_gets_conllu_as_the_command_parse_writes_it(start, app, tmp_path: Path):
    browser = start()
    text = "she saw\n\nthe cat.dogs  bark"
    browser.run(
        f"document.querySelector('#text').value = {text!r}, document.querySelector('#form').requestSubmit()"
    )
    (reply,) = post(app, "/parse", {"text": text, "conllu": True})
    browser.wait("document.querySelector('#sentence').textContent.startsWith('she')")
    expected = "".join(sentence["conllu"] for sentence in reply.json()["sentences"])
    assert "SpacesAfter=" in expected
    saved = browser.saved(lambda: browser.mouse("#save"), tmp_path)
    assert saved.read_text() == expected
    browser.send("Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])
    browser.mouse("#copy")
    assert browser.wait("navigator.clipboard.readText()") == browser.text("#conllu")


def test_corrections_go_on_without_the_service(start_with):
    browser = start_with(3)
    browser.wait("document.querySelector('g.doubtful')")
    browser.send("Network.enable")
    browser.send(
        "Network.emulateNetworkConditions", offline=True, latency=0, downloadThroughput=0, uploadThroughput=0
    )
    after(browser, lambda: browser.press("Enter", "Enter"))
    browser.wait("document.querySelector('#error').textContent")
    assert "The service does not answer. Corrections are kept" in browser.text("#error")
    assert [i for i, row in enumerate(shown(browser).words, start=1) if row.head == 0] == [1]
    assert corrected(shown(browser)) == [1]
    browser.problems.clear()


def test_a_sentence_that_is_too_long_for_suggestions_is_corrected(start, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("spacy_g2g.serve.limits.MAX_CONSTRAINED_WORDS", 5)
    browser = start()
    before = arcs(shown(browser))
    after(browser, lambda: browser.mouse(word(1), word(3)))
    browser.wait("document.querySelector('#error').textContent")
    assert "Words of a sentence with constraints" in browser.text("#error")
    assert corrected(shown(browser)) == [1]
    assert arcs(shown(browser))[0][0] == 3
    assert arcs(shown(browser))[4:] == before[4:]


def test_trees_of_a_transition_based_parser_are_corrected(start):
    service = make_service(make_pipeline(row="SentTr"))
    with served(service) as address:
        browser = start(address)
        after(browser, lambda: browser.mouse(word(1), word(3)))
        after(browser, lambda: (browser.mouse(word(2)), browser.mouse(word(2))))
        assert [shown(browser).words[i].head for i in (0, 1)] == [3, 0]
        assert corrected(shown(browser)) == [1, 2]
        assert browser.text("#error") == ""
    service.state.worker.close()


def test_a_head_that_is_set_leaves_a_tree(start):
    browser = start()
    problems = browser.run(
        """import("/trees.js").then(({attach, isTree}) => {
          const found = [], random = n => Math.floor(n * Math.random());
          for (let trial = 0; trial < 2000; trial++) {
            const n = 1 + random(9), heads = Array(n);
            const order = [...heads.keys()].sort(() => Math.random() - 0.5);
            order.forEach((word, i) => { heads[word] = i ? order[random(i)] : word; });
            const word = random(n), head = random(n), set = order.slice(random(n));
            const result = attach(heads, word, head, set);
            const others = heads.map((_, i) => i).filter(i => i !== word && i !== result.freed);
            const isRight = isTree(heads) && isTree(result.heads) && result.heads[word] === head
              && result.heads.some((h, i) => h === i) && others.every(i => result.heads[i] === heads[i]);
            if (!isRight) found.push([heads, word, head, result]);
          }
          return JSON.stringify(found.slice(0, 3));
        })"""
    )
    assert problems == "[]"
