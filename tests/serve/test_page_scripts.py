"""The scripts of the page that need no browser, in Node."""

import json
import shutil
import subprocess
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

NODE = shutil.which("node")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(NODE is None, reason="there is no Node to try the scripts with"),
]
#: What the scripts ask of a browser when they are loaded.
BROWSER = """
const measureText = text => ({width: text.length});
globalThis.document = {createElement: () => ({getContext: () => ({measureText})})};
const load = async name => import(`./${name}.js`);
"""


@pytest.fixture
def run(tmp_path: Path):
    """Returns what the last expression of a script is, which may ``await load(name)`` a file of the page."""
    for file_ in files("spacy_g2g.serve").joinpath("page").iterdir():
        if file_.name.endswith(".js"):
            (tmp_path / file_.name).write_bytes(file_.read_bytes())
    (tmp_path / "package.json").write_text('{"type": "module"}')

    def answer(body: str, timeout: float = 120.0) -> Any:
        (tmp_path / "main.js").write_text(
            f"{BROWSER}\nconsole.log(JSON.stringify(await (async () => {{{body}}})()));"
        )
        command = [NODE or "", str(tmp_path / "main.js")]
        found = subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False)
        assert found.returncode == 0, found.stderr
        return json.loads(found.stdout)

    return answer


def test_no_text_of_100_000_characters_stops_a_function_of_the_page(run):
    slow = run(
        """
        const {readSentences, writeSentence} = await load("conllu"), {isRightToLeft} = await load("drawing");
        const {keyOf} = await load("store"), {fits} = await load("trees"), found = [], n = 100000;
        const rows = text => `1\\ta\\t_\\t_\\t_\\t_\\t0\\troot\\t_\\t_${text}\\n\\n`;
        const inRows = text => {
          for (const sentence of readSentences(text)) {
            if (fits(sentence, sentence.first)) writeSentence(sentence, {...sentence.first, set: [0]}, true);
          }
        };
        const inCell = text => inRows(rows(text)), keysOf = text => keyOf(text, text);
        const functions = {inRows, inCell, isRightToLeft, keysOf};
        const time = (name, act, text) => {
          const start = process.cpuUsage();
          act(text);
          const {user, system} = process.cpuUsage(start);
          if (user + system > 2e6) found.push([name, text.slice(0, 20), (user + system) / 1e6]);
        };
        const starts = ["", "# text", "# text = ", "# text = a", "1", "1-", "1\\t"];
        const ends = ["", "a", "a\\u2028b"];
        const bits = [" ", "\\r", "\\n", "\\u2028", "=", "#", "\\t", "|", "1", "-", "a", "\\ufeff", "1-1"];
        for (const name in functions) {
          for (const start of starts) {
            for (const bit of bits) {
              for (const end of ends) time(name, functions[name], start + bit.repeat(n / bit.length) + end);
            }
          }
        }
        return found;
        """
    )
    assert slow == []


def test_comments_are_read_as_the_library_reads_them(run):
    comments = "# a\n#  sent_id =  s = 1 \r\n# text\n# text = They  saw.\u2028\n# text = other\n"
    row = "1\tThey\t_\t_\t_\t_\t0\troot\t_\t_\n\n"
    (found,) = run(f"return (await load('conllu')).readSentences({json.dumps(comments + row)});")
    assert (found["id"], found["text"]) == ("s = 1", "They  saw.")


JUNK = [
    "5",
    "{}",
    "null",
    "[]",
    "{...state, heads: [0, 5]}",
    "{...state, heads: [1, 0]}",
    "{...state, heads: ['0', 0]}",
    "{...state, heads: [0]}",
    "{...state, deps: [1, 2]}",
    "{...state, deps: 'ab'}",
    "{...state, deps: ['root', 'a\\tb']}",
    "{...state, set: 5}",
    "{...state, set: [-1]}",
    "{...state, lemmas: undefined}",
]


def test_what_is_no_tree_of_a_sentence_does_not_fit_it(run):
    found = run(
        f"""
        const {{fits}} = await load("trees"), sentence = {{words: ["a", "b"]}}, deps = ["root", "_"];
        const state = {{heads: [0, null], deps, upos: ["_", "_"], lemmas: ["a", ""], set: [1]}};
        return [state, {", ".join(JUNK)}].map(each => fits(sentence, each));
        """
    )
    assert found == [True] + [False] * len(JUNK)
