"""The workflow `amr` of project.yml: from AMRs to a wheel, and data that is not as expected."""

import io
import threading
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from zipfile import ZipFile

import pytest
import spacy
from spacy.tokens import DocBin

from project import amr_data
from spacy_g2g.amr.data.docs import get_amr_ids

from .test_workflows import make_project, read_json
from .workflows import run_workflow

# spaCy's `package` leaves files open.
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]

HEADER = "# A corpus\n\n"
AMRS = [
    ("Dogs bark .", "(b / bark-01 :ARG0 (d / dog))"),
    ("The cat sleeps .", "(s / sleep-01\n   :ARG0 (c / cat))"),
    ("Birds do not sing .", "(s / sing-01 :polarity - :ARG0 (b / bird))"),
    ("The boy wants to go .", "(w / want-01 :ARG0 (b / boy) :ARG1 (g / go-02 :ARG0 b))"),
]
BROKEN = "# ::id t.99\n# ::snt Broken\n(b / break-01\n\n"
N_TRAIN = 8
IDS = {"train": f"t.1..{N_TRAIN} t.99", "dev": "t.9..10", "test": "t.11..12"}
PAGE = "<!DOCTYPE html>\n<html><title>Not found</title></html>"


def amrs(first: int, last: int) -> str:
    """Blocks whose ids are t.1, t.2, ..."""
    blocks = []
    for number in range(first, last + 1):
        sentence, graph = AMRS[number % len(AMRS)]
        blocks.append(f"# ::id t.{number} ::date 2012\n# ::snt {sentence}\n{graph}\n\n")
    return "".join(blocks)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "corpus.txt"
    path.write_text(HEADER + amrs(1, 12), encoding="utf8")
    return path


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A project that has run the workflow, and what it printed.

    Its commands run in this process, which saves the start of each.
    """
    folder = tmp_path_factory.mktemp("amr")
    data = folder / "corpus.amr"
    data.write_text(HEADER + amrs(1, 12) + BROKEN, encoding="utf8")
    project = make_project(folder / "project")
    ids = {f"amr_{split}_ids": text for split, text in IDS.items()}
    settings = {
        "amr_config": "configs/test/amr_tiny.cfg",
        "steps": "2",
        "data_license": "CC0",
        "name": "tiny",
    }
    variables = {"amr": "tiny", "amr_data": data.as_uri(), **ids, **settings}
    return project, run_workflow(project, "amr", variables)


def fetch(folder: Path, **options: str | Path) -> str:
    """Run the command in this process; gives the error, "" for none."""
    printed = io.StringIO()
    given = [part for name, value in options.items() for part in (f"--{name.replace('_', '-')}", str(value))]
    try:
        with redirect_stdout(printed):
            amr_data.main(["fetch", "tiny", str(folder), *given])
    except SystemExit as error:
        return f"{' '.join(printed.getvalue().split())} {error}"
    return ""


def fetch_by_ids(folder: Path, data: str | Path, **options: str | Path) -> str:
    ids = {f"{split}_ids": text for split, text in IDS.items()}
    return fetch(folder, data=data, **{**ids, **options})


def names(folder: Path) -> list[str]:
    """Of the files that a command left."""
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


@contextmanager
def serve(pages: dict[str, tuple[int, str, int]]) -> Iterator[tuple[str, list[str]]]:
    """A server on this machine that answers with status, text and bytes left out at its end.

    Gives its address, and the pages that were asked for.
    """
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            status, text, missing = pages[self.path]
            content = text.encode("utf8")
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content[: len(content) - missing])

        def log_message(self, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("no_proxy", "127.0.0.1")
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", asked
        finally:
            server.shutdown()
            thread.join()


# The workflow


def test_the_workflow_makes_a_wheel_that_gives_amrs(trained: tuple[Path, str], tmp_path: Path):
    project, _ = trained
    (wheel,) = (project / "packages" / "amr" / "tiny").rglob("*.whl")
    assert wheel.name == "en_tiny_amr-0.1.0-py3-none-any.whl"
    with ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    nlp = spacy.load(tmp_path / "en_tiny_amr" / "en_tiny_amr-0.1.0")
    doc = nlp("Dogs bark. Cats sleep.")
    assert len(doc._.amr) == len(doc._.amr_graphs) == 2
    metadata = (tmp_path / "en_tiny_amr-0.1.0.dist-info" / "METADATA").read_text(encoding="utf8")
    assert "Requires-Dist: spacy-g2g[amr]" in metadata


def test_card_has_smatch_corpus_and_license(trained: tuple[Path, str]):
    project, _ = trained
    folder = project / "packages" / "amr" / "tiny" / "en_tiny_amr-0.1.0"
    card = (folder / "README.md").read_text(encoding="utf8")
    scores = {
        split: read_json(project / "metrics" / "amr" / "tiny" / f"{split}.json") for split in ("dev", "test")
    }
    for split, name in (("dev", "development set"), ("test", "test set")):
        assert 0 <= scores[split]["Smatch"]["f1"] <= 1
        figures = (f"{100 * scores[split][metric]['f1']:.2f}" for metric in ("Smatch", "Concepts"))
        assert f"| {name} | {' | '.join(figures)} |" in card
    assert "AMRs, trained on tiny: sentencizer, amr_parser" in card
    assert f"| training set | {N_TRAIN} sentences," in card
    assert "| AMR corpus | tiny |" in card
    assert "| tiny | CC0 |" in card
    performance = read_json(folder / "meta.json")["performance"]
    expected = pytest.approx(scores["dev"]["Smatch"]["f1"], abs=1e-9)
    assert performance["smatch_f"] == performance["dev_smatch"] == expected


def test_the_best_weights_are_what_is_scored(trained: tuple[Path, str]):
    project, _ = trained
    stamps = {
        split: read_json(project / "metrics" / "amr" / "tiny" / f".{split}.json.done")
        for split in ("dev", "test")
    }
    folder = project / "training" / "amr" / "tiny"
    best = read_json(folder / ".model-best.done")["output"]
    assert {stamp["inputs"]["model"] for stamp in stamps.values()} == {best}


def test_what_cannot_be_read_is_left_out_and_counted(trained: tuple[Path, str]):
    project, printed = trained
    vocab = spacy.blank("xx").vocab
    sizes = {}
    for split in ("train", "dev", "test"):
        path = project / "corpus" / "amr" / "tiny" / f"{split}.spacy"
        sizes[split] = len(list(DocBin().from_disk(path).get_docs(vocab)))
    assert sizes == {"train": N_TRAIN, "dev": 2, "test": 2}
    assert f"{N_TRAIN} AMRs, 36 words, 1 left out" in " ".join(printed.split())


# Fetch


def test_sets_are_those_of_their_ids(corpus: Path, tmp_path: Path):
    folder = tmp_path / "fetched"
    assert fetch_by_ids(folder, corpus) == ""
    assert names(folder) == ["dev.txt", "source.json", "test.txt", "train.txt"]
    assert (folder / "train.txt").read_text(encoding="utf8") == amrs(1, N_TRAIN)
    assert (folder / "dev.txt").read_text(encoding="utf8") == amrs(9, 10)
    source = read_json(folder / "source.json")
    assert source["parts"]["test"]["ids"] == IDS["test"]
    assert [source["parts"][split]["amrs"] for split in IDS] == [N_TRAIN, 2, 2]


def test_sets_by_path_take_the_place_of_the_corpus_of_all(corpus: Path, tmp_path: Path):
    parts = tmp_path / "parts"
    parts.mkdir()
    (parts / "a.txt").write_text(amrs(1, 2).rstrip(), encoding="utf8")
    (parts / "b.amr").write_text(amrs(3, 4).replace("\n", "\r\n"), encoding="utf8", newline="")
    assert fetch_by_ids(tmp_path / "fetched", "none.txt", train=parts, dev=corpus) == ""
    assert names(tmp_path / "fetched") == ["dev.txt", "source.json", "train.txt"]
    assert (tmp_path / "fetched" / "train.txt").read_text(encoding="utf8") == amrs(1, 4)
    assert (tmp_path / "fetched" / "dev.txt").read_text(encoding="utf8") == amrs(1, 12)


def test_a_download_is_asked_for_once(tmp_path: Path):
    folder = tmp_path / "fetched"
    with serve({"/a.txt": (200, amrs(1, 12), 0)}) as (address, asked):
        assert fetch_by_ids(folder, f"{address}/a.txt") == ""
        assert fetch_by_ids(folder, f"{address}/a.txt") == ""
        assert asked == ["/a.txt"]
        assert fetch_by_ids(folder, f"{address}/a.txt", dev_ids="t.9") == ""
        assert asked == ["/a.txt"] * 2
    assert (folder / "dev.txt").read_text(encoding="utf8") == amrs(9, 9)
    assert read_json(folder / "source.json")["origin"] == f"{address}/a.txt"


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ((404, "gone", 0), "404"),
        ((200, PAGE, 0), "is a page of HTML, not data: it begins with '<!DOCTYPE html>"),
        ((200, amrs(1, 12), 100), "IncompleteRead"),
        ((200, "Nothing here", 0), "has no AMR: it begins with 'Nothing here'"),
    ],
    ids=["not-found", "page", "cut", "text"],
)
def test_what_is_no_download_of_amrs_is_told_and_leaves_nothing(
    tmp_path: Path, answer: tuple[int, str, int], message: str
):
    with serve({"/a.txt": answer}) as (address, _):
        found = fetch_by_ids(tmp_path / "assets" / "fetched", f"{address}/a.txt")
    assert f"{address}/a.txt" in found
    assert message in found
    assert names(tmp_path) == []


def test_a_server_that_is_not_there_is_told(tmp_path: Path):
    with serve({}) as (address, _):
        pass
    found = fetch_by_ids(tmp_path / "fetched", f"{address}/a.txt")
    assert f"Can't download {address}/a.txt" in found
    assert "--vars.amr_data" in found


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"data": "none.txt"}, "none.txt"),
        ({"data": "page.txt"}, "page.txt is a page of HTML"),
        ({"data": "latin.txt"}, "latin.txt: byte 233 at 8 is not UTF-8"),
        ({"dev_ids": "x.1..2"}, "has no AMR with the ids 'x.1..2'. Expected amr_dev_ids among its 12 ids"),
        ({"dev_ids": "t.2..1"}, "t.2..1"),
        ({"dev_ids": ""}, "There is no amr_dev. Expected amr_train and amr_dev, or amr_data"),
        ({"train": "corpus.txt"}, "There is no amr_dev."),
        ({"data": ""}, "There is no amr_train and no amr_dev."),
    ],
)
def test_errors_name_what_is_wrong_and_leave_nothing(
    corpus: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    options: dict[str, str],
    message: str,
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "page.txt").write_text(PAGE, encoding="utf8")
    (tmp_path / "latin.txt").write_bytes("(c / caf\xe9)".encode("latin1"))
    before = names(tmp_path)
    assert message in fetch_by_ids(tmp_path / "fetched", **{"data": "corpus.txt", **options})
    assert names(tmp_path) == before


def test_what_was_fetched_stays_where_other_data_cannot_be(corpus: Path, tmp_path: Path):
    folder = tmp_path / "fetched"
    assert fetch_by_ids(folder, corpus) == ""
    before = names(folder)
    assert fetch_by_ids(folder, tmp_path / "none.txt") != ""
    assert names(folder) == before


# Convert


def test_sets_are_converted_again_where_they_changed(corpus: Path, tmp_path: Path):
    folder, output = tmp_path / "fetched", tmp_path / "corpus"

    def convert() -> dict[str, int]:
        amr_data.main(["convert", str(folder), str(output)])
        return {path.stem: path.stat().st_mtime_ns for path in output.glob("*.spacy")}

    assert fetch_by_ids(folder, corpus) == ""
    first = convert()
    assert convert() == first
    assert fetch_by_ids(folder, corpus, dev_ids="t.12", test_ids="") == ""
    second = convert()
    assert sorted(second) == ["dev", "train"]
    assert (second["train"] == first["train"], second["dev"] == first["dev"]) == (True, False)
    (doc,) = DocBin().from_disk(output / "dev.spacy").get_docs(spacy.blank("xx").vocab)
    assert get_amr_ids(doc) == ["t.12"]


def test_words_may_be_those_of_the_tokenizer(tmp_path: Path):
    path = tmp_path / "raw.txt"
    path.write_text("# ::id t.1\n# ::snt Don't go.\n(g / go-01)\n", encoding="utf8")
    assert fetch(tmp_path / "fetched", train=path, dev=path) == ""
    amr_data.main(
        ["convert", str(tmp_path / "fetched"), str(tmp_path), "--words", "tokenizer", "--lang", "en"]
    )
    (doc,) = DocBin().from_disk(tmp_path / "train.spacy").get_docs(spacy.blank("xx").vocab)
    assert [token.text for token in doc] == ["Do", "n't", "go", "."]
