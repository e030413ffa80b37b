import re
from pathlib import Path

import pytest
from spacy.tokens import Doc

from spacy_g2g.analysis.render import render
from spacy_g2g.terminal.options import Unit

from ..chains import save_pipeline, say_words
from ..formats.samples import row
from ..util import initialized_nlp, parser_of, plain_doc
from .test_drawing import Page
from .util import add_component, merge_two, run

ROWS = ["# sent_id = s1\n", row("1", "It", "2", "nsubj"), row("2", "works", "0", "root")]
ROWS += [row("3", ".", "2", "dep"), "\n# sent_id = s2\n", row("1", "We", "0", "root")]
ROWS += [row("2", "do", "1", "dep"), row("3", "not", "2", "dep"), "\n"]
TEXT = "".join(ROWS)


class ChainRefiner:
    """Two passes from a graph where each word is a root to a chain; a sentence of one word needs one."""

    store_graphs = False

    def __call__(self, doc: Doc) -> Doc:
        for name in ("g2g_graphs", "g2g_iterations"):
            if not Doc.has_extension(name):
                Doc.set_extension(name, default=None)
        starts = [bool(token.is_sent_start) or token.i == 0 for token in doc]
        chain = [token.i if start else token.i - 1 for token, start in zip(doc, starts, strict=True)]
        n, probs = len(doc), [0.75] * len(doc)
        roots = {"heads": list(range(n)), "deps": ["ROOT"] * n, "head_probs": [], "dep_probs": []}
        deps = ["ROOT" if start else "dep" for start in starts]
        last = {"heads": chain, "deps": deps, "head_probs": probs, "dep_probs": probs}
        for token in doc:
            token.head, token.dep_ = doc[chain[token.i]], deps[token.i]
        doc._.g2g_iterations = [1 if len(span) == 1 else 2 for span in doc.sents]
        if self.store_graphs:
            doc._.g2g_graphs = [roots, {**roots, "deps": ["x"] * n}, last]
        return doc


@pytest.fixture(scope="module")
def refiner(tmp_path_factory) -> str:
    """Folder of a pipeline with a refiner."""
    return save_pipeline(
        tmp_path_factory.mktemp("pipeline"), "test_chain_refiner", lambda nlp, name: ChainRefiner()
    )


@pytest.fixture
def gold(tmp_path: Path) -> str:
    path = tmp_path / "gold.conllu"
    path.write_text(TEXT, encoding="utf8")
    return str(path)


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out.html"


def read(path: Path) -> Page:
    return Page(path.read_text(encoding="utf8"))


def headings(path: Path) -> list[str]:
    """Names of the figures, of all sentences."""
    return read(path).text_of("b")


def test_a_parser_gives_one_tree_a_sentence(pipeline, out):
    assert render(pipeline, "One two. Three.", out) == 2
    page = read(out)
    assert headings(out) == ["tree", "tree"]
    assert page.text_of("text", "word") == ["One", "two", ".", "Three", "."]
    assert page.text_of("title")[1:] == [
        "One ← ROOT: root",
        "two ← One: dep",
        ". ← two: dep",
        "Three ← ROOT: root",
        ". ← Three: dep",
    ]


def test_gold_words_and_trees_come_from_conllu(pipeline, gold, tmp_path, out):
    assert render(pipeline, gold, out) == 2
    page = read(out)
    assert page.text_of("h2") == ["1 · s1", "2 · s2"]
    assert headings(out) == ["tree", "gold"] * 2
    captions = [caption.strip() for caption in page.text_of("figcaption")]
    assert captions == ["1 of 3 right", "", "3 of 3 right", ""]
    assert "It ← ROOT: root\ngold: It ← works: nsubj" in page.text_of("title")
    (tmp_path / "in.conllu").write_text("# sent_id = <b>\n" + row("1", "<script>", "_", "_"))
    assert render(pipeline, str(tmp_path / "in.conllu"), out) == 1
    assert headings(out) == ["tree"]  # the file has no trees
    assert read(out).text_of("h2") == ["1 · <b>"]
    assert read(out).text_of("text", "word") == ["<script>"]


def test_lines_of_a_text_file_are_documents_without_their_white_space(pipeline, tmp_path, out):
    (tmp_path / "in.txt").write_text("One. Two\n\nthree  \t four\n")
    assert render(pipeline, str(tmp_path / "in.txt"), out) == 3
    page = read(out)
    assert page.text_of("text", "word") == ["One", ".", "Two", "three", "four"]
    assert "four ← three: dep" in page.text_of("title")  # in the Doc, "four" hangs on white space


def test_a_text_file_may_be_one_document(pipeline, tmp_path, out):
    (tmp_path / "in.txt").write_text("One\ntwo\n\nthree\n")
    counts = [render(pipeline, str(tmp_path / "in.txt"), out, documents=unit) for unit in Unit]
    assert counts == [3, 2, 1]


def test_each_iteration_of_a_refiner_is_drawn(refiner, gold, out):
    render(refiner, gold, out)
    assert headings(out) == ["initial graph", "iteration 1", "iteration 2", "gold"] * 2
    page = read(out)
    assert page.text_of("figcaption")[4:7] == [
        " 1 of 3 right · 3 roots",
        " 3 arcs changed · 1 right to wrong · 2 wrong to wrong · 0 of 3 right · 3 roots",
        " 3 arcs changed · 3 wrong to right · 3 of 3 right",
    ]
    assert "do ← We: dep\nhead 75.0%, label 75.0%\nbefore: do ← ROOT: x" in page.text_of("title")


def test_a_sentence_that_stopped_earlier_has_fewer_graphs(refiner, out):
    render(refiner, "Go! Not now!", out)
    assert headings(out) == ["initial graph", "iteration 1", "iteration 2"] * 2
    render(refiner, "!", out)
    assert headings(out) == ["initial graph", "iteration 1"]


def test_unchanged_sentences_can_be_left_out(refiner, pipeline, out):
    # The chain of one word is what it was before.
    assert render(refiner, "!", out, only_changed=True) == 0
    assert "No sentence to show." in out.read_text(encoding="utf8")
    assert render(refiner, "Go on!", out, only_changed=True) == 1
    assert render(pipeline, "Go on!", out, only_changed=True) == 0


def test_the_limit_counts_sentences_that_are_drawn(refiner, tmp_path, out):
    path = tmp_path / "in.txt"
    path.write_text("!\n" * 5 + "Go on! Not now!\n" * 5)
    assert render(refiner, str(path), out) == 15
    assert render(refiner, str(path), out, limit=3) == 3
    assert render(refiner, str(path), out, limit=3, only_changed=True) == 3
    assert read(out).text_of("text", "word")[:3] == ["Go", "on", "!"]
    assert render(refiner, str(path), out, only_changed=True) == 10


def test_gold_tags_are_given_on_request_only(tmp_path, out, pipeline):
    seen = []
    tags = add_component(lambda doc: seen.append([t.tag_ for t in doc]) or doc, pipeline, tmp_path / "tags")
    (tmp_path / "in.conllu").write_text("1\tw\t_\tNOUN\tNN\t_\t0\troot\t_\t_\n")
    for gold_tags in (False, True):
        render(tags, str(tmp_path / "in.conllu"), out, gold_tags=gold_tags)
    assert seen == [[""], ["NN"]]


def test_doubtful_arcs_are_those_of_the_parsers_confidence(pipeline, tmp_path, out):
    nlp = initialized_nlp()
    folder, source = str(tmp_path / "parser"), str(tmp_path / "in.conllu")
    nlp.to_disk(folder)
    (found,) = parser_of(nlp).confidence(nlp(plain_doc(nlp.vocab, "she saw the cat")))
    doubt = sorted(found.labeled)[2]
    words = enumerate(["she", "saw", "the", "cat"], start=1)
    Path(source).write_text("".join(f"{i}\t{word}" + "\t_" * 8 + "\n" for i, word in words))
    assert render(folder, source, out, doubt=doubt) == 1
    assert f"2 arcs below {doubt:g}" in " ".join(read(out).text_of("figcaption"))
    heads = {title.partition("head ")[2] for title in read(out).text_of("title")[1:]}
    pairs = zip(found.arcs, found.labeled, strict=True)
    assert {f"{arc:.1%}, label {both / arc:.1%}" for arc, both in pairs} <= heads
    render(folder, source, out)  # without doubt, an arc has the parser's own probabilities
    arcs = [title for title in read(out).text_of("title")[1:] if "head" in title]
    assert ["%, label " in title for title in arcs] == [True] * 4
    assert render(pipeline, "a b", out, doubt=0.5) == 1  # a parser without probabilities


def test_our_refiner_tells_its_iterations(tmp_path, out):
    initialized_nlp(factory="rng_refiner", iterations=2, stop=False).to_disk(tmp_path / "refiner")
    (tmp_path / "in.conllu").write_text(TEXT)
    render(str(tmp_path / "refiner"), str(tmp_path / "in.conllu"), out)
    assert headings(out) == ["initial graph", "iteration 1", "iteration 2", "gold"] * 2
    captions = [caption.strip() for caption in read(out).text_of("figcaption")]
    assert captions[0] == captions[4] == "no arcs"
    arcs = [title for title in read(out).text_of("title")[1:] if "head" in title]
    assert len(arcs) == 12
    assert all("%, label " in title for title in arcs)


@pytest.fixture
def initial(tmp_path: Path) -> Path:
    """The trees of TEXT but for one label."""
    path = tmp_path / "initial.conllu"
    path.write_text(TEXT.replace("nsubj", "obj"), encoding="utf8")
    return path


def test_trees_of_a_file_are_the_initial_graphs(no_parser, gold, initial, out):
    run("render", no_parser, gold, "--output", out, "--initial", initial, "--limit", 0)
    captions = [caption.strip() for caption in read(out).text_of("figcaption")]
    assert captions == ["2 of 3 right", "", "3 of 3 right", ""]
    assert "It ← works: obj\ngold: It ← works: nsubj" in read(out).text_of("title")
    assert render(no_parser, gold, out, initial=initial, limit=1) == 1
    for source in (gold, "Go on!"):
        with pytest.raises(ValueError, match=r"E907.*sentencizer"):
            render(no_parser, source, out)


def test_trees_of_other_sentences_are_an_error(no_parser, gold, initial, out):
    initial.write_text(TEXT.replace("We", "They"), encoding="utf8")
    with pytest.raises(ValueError, match=r"E509.*They"):
        render(no_parser, gold, out, initial=initial)
    assert not out.exists()


def test_text_has_no_trees_to_begin_with(no_parser, initial, tmp_path, out):
    (tmp_path / "in.txt").write_text("Go on!\n")
    for source in (str(tmp_path / "in.txt"), "Go on!"):
        with pytest.raises(ValueError, match=r"E903.*Expected one of \.conllu"):
            render(no_parser, source, out, initial=initial)


@pytest.mark.parametrize(
    ("source", "target", "message"),
    [
        ("nowhere.conllu", "out.html", r"E906.*nowhere\.conllu"),
        ("{}/in.spacy", "out.html", r"E903.*'\.spacy'.*\.conllu"),
        ("text", "out.pdf", r"E903.*'\.pdf'.*\.html"),
        ("{}/in.conllu", "out.html", r"E301.*in\.conllu, line 11"),
    ],
)
def test_bad_input_is_an_error_and_leaves_no_page(pipeline, tmp_path, source, target, message):
    (tmp_path / "in.spacy").touch()
    (tmp_path / "in.conllu").write_text(TEXT + "1\tbroken\n")
    with pytest.raises((FileNotFoundError if "E906" in message else ValueError), match=message):
        render(pipeline, source.format(tmp_path), tmp_path / target)
    assert not (tmp_path / target).exists()


def test_a_pipeline_that_merges_gold_words_is_an_error(pipeline, gold, tmp_path, out):
    with pytest.raises(ValueError, match=r"E901.*works"):
        render(add_component(merge_two, pipeline, tmp_path / "merge"), gold, out)


def test_command_draws_up_to_its_limit(pipeline, gold, out):
    assert "1 sentence:" in run("render", pipeline, gold, "--output", out, "--limit", 1)
    assert len(read(out).all("section")) == 1
    assert read(out).text_of("h1") == [f"{pipeline}: gold.conllu"]
    assert "--output" in run("render", pipeline, "text", status=2)


# AMRs


@pytest.fixture
def both(pipeline, tmp_path) -> str:
    """Folder of a pipeline with trees and AMRs."""
    return add_component(say_words, pipeline, tmp_path / "both")


def test_amrs_are_drawn_after_trees_or_alone(amr_pipeline, both, gold, out):
    assert render(amr_pipeline, "One. Two three.", out) == 2
    assert headings(out) == ["AMR", "AMR"]
    first, second = read(out).text_of("pre")
    assert first.startswith("(s / say-01\n   :op1")
    assert re.findall('".*?"', first + second) == ['"One"', '"."', '"Two"', '"three"', '"."']
    assert render(both, "One. Two three.", out) == 2
    assert headings(out) == ["tree", "AMR"] * 2
    assert render(both, gold, out, limit=1) == 1
    assert headings(out) == ["tree", "gold", "AMR"]
    assert render(amr_pipeline, "One.", out, only_changed=True) == 0


def test_words_and_gold_amrs_come_from_amr_files(amr_pipeline, amr_sample, out):
    assert render(amr_pipeline, str(amr_sample), out) == 2
    page = read(out)
    assert page.text_of("h2") == ["1", "2 · b.7"]
    assert headings(out) == ["AMR", "gold AMR"] * 2
    assert "Smatch" in page.text_of("figcaption")[0]
    found = re.findall('op[0-9]+ "(.*?)"', "".join(page.text_of("mark")))
    assert found[:7] == ["Mr", ".", "Li", "ca", "n't", "go", "."]


def test_gold_amrs_are_drawn_by_a_pipeline_that_gives_none(no_parser, amr_sample, out):
    assert render(no_parser, str(amr_sample), out) == 2
    assert headings(out) == ["gold AMR"] * 2
    assert re.findall("/ ([^\\s)]+)", read(out).text_of("pre")[0])[:2] == ["go-02~e.5", "person"]


def test_a_pipeline_that_splits_an_amrs_sentence_is_an_error(tmp_path, amr_pipeline, amr_sample, out):
    def split(doc: Doc) -> Doc:
        for token in doc:
            token.is_sent_start = True
        return doc

    splitting = add_component(split, amr_pipeline, tmp_path / "split", first=True)
    with pytest.raises(ValueError, match=r"E901.*Mr\. Li.*7 AMR"):
        render(splitting, str(amr_sample), out)
