"""``g2g debug-data`` on configs of tests: what training would see, and what the exit status says."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.training import Example
from spacy.util import load_config, registry
from spacy.vocab import Vocab

from spacy_g2g.data.corpus import unparsed_copy
from spacy_g2g.data.docs import write_tree
from spacy_g2g.debug_data.statistics import count_pieces, read_figures

from ..chains import g2g
from ..formats.samples import SAMPLE
from ..training.test_spacy_train import write_corpus
from ..util import TREEBANK, gold_doc, plain_doc, read_treebank

ROOT = Path(__file__).parents[2]
TINY = ROOT / "configs" / "test" / "syntr_tiny.cfg"

#: Docs of sentences whose words are FORM/HEAD; heads count from 1 over the Doc, a root has its own number,
#: 0 is missing; "_" is white space.
TROUBLE = [
    ["a/2 b/2 c/2", "d/5 e/4"],
    ["f/1 g/2"],
    ["h/1 i/3", "j/3 k/3"],
    ["l/1 _/1 m/2"],
    ["n/0 o/0 p/0"],
    ["q/1 r/0"],
    ["s/1"],
    ["t/3 u/4 v/3 w/3"],
]


def troubled_doc(vocab: Vocab, sentences: list[str]) -> Doc:
    """A Doc with heads as they are, even where spaCy would set boundaries by them."""
    cells = [word.split("/") for text in sentences for word in text.split()]
    doc = Doc(vocab, words=["\n" if form == "_" else form for form, _ in cells])
    starts = [1 if i == 0 else -1 for text in sentences for i in range(len(text.split()))]
    rows = []
    for i, (_, head) in enumerate(cells):
        label = "root" if int(head) == i + 1 else "dep" if int(head) else ""
        rows.append([int(head) - 1 - i if label else 0, vocab.strings.add(label) if label else 0])
    parse = np.array([[np.int64(head).astype(np.uint64), np.uint64(dep)] for head, dep in rows])
    write_tree(doc, parse, starts=np.array(starts, dtype=np.int64).astype(np.uint64))
    return doc


def troubled_reader(predicted: str) -> Any:
    """A reader of the troubled Docs; predicted: what their predicted Docs have, "boundaries" or "text"."""

    def read(nlp: Language) -> Any:
        for sentences in TROUBLE:
            gold = troubled_doc(nlp.vocab, sentences)
            doc = unparsed_copy(gold, ["SENT_START"] if predicted == "boundaries" else [])
            yield Example(doc, gold)

    return read


@pytest.fixture
def corpus(tmp_path: Path) -> str:
    return str(write_corpus(tmp_path / "corpus.spacy"))


def run(*arguments: str) -> tuple[int, str]:
    result = g2g("debug-data", *arguments)
    return result.exit_code, " ".join(result.output.split())


def on(corpus: str, path: Path = TINY, **settings: Any) -> Any:
    """The config, with one corpus for training and development."""
    return load_config(path, overrides={"paths.train": corpus, "paths.dev": corpus} | settings)


@pytest.mark.parametrize("predicted", ["boundaries", "text"])
def test_counts_of_docs_equal_those_worked_out_by_hand(predicted: str, corpus: str):
    registry.readers("test_troubled.v1", func=troubled_reader)
    config = load_config(TINY, overrides={"paths.dev": corpus})
    config["corpora"]["train"] = {"@readers": "test_troubled.v1", "predicted": predicted}
    facts = read_figures(config)["train"]
    expected = {
        "docs": 8,
        "sentences": 10,
        "words": 23,
        "white_space": 1,
        "longest": 4,
        "unset": 0 if predicted == "boundaries" else 7,
        "misaligned": 0,
        "inner_starts": 2,
        "bare_starts": 2,
        "one_word": 1,
        "trees": 4,
        "non_projective": 1,
        "non_projective_words": 1,
        "no_tree": 1,
        "incomplete": 3,
        "several_roots": 1,
        "cycles": 1,
        "missing": 4,
        "outside": 1,
        "space_heads": 1,
        "multiword_tokens": None,
        "multiword_words": None,
        "labels": {"dep": 10, "root": 9},
        "rare_labels": {"dep": 10, "root": 9},
        "roots": {"root": 9},
        "root_labels": {},
        "root_label_elsewhere": 0,
    }
    assert {name: facts[name] for name in expected} == expected


@pytest.mark.parametrize(("has_text", "has_network"), [(True, True), (True, False), (False, True)])
def test_an_encoder_sets_boundaries_if_it_learns_them(has_text: bool, has_network: bool, corpus: str):
    registry.readers("test_troubled.v1", func=troubled_reader)
    config = on(corpus)
    if has_text:
        config["corpora"]["train"] = {"@readers": "test_troubled.v1", "predicted": "text"}
    config["nlp"]["pipeline"].insert(0, "g2g_encoder")
    boundaries = {} if has_network else {"boundaries": None}
    config["components"]["g2g_parser"]["boundaries"] = None
    config["components"]["g2g_encoder"] = {"factory": "g2g_encoder", **boundaries}
    report = read_figures(config)
    assert ("g2g_encoder" in report["sets_boundaries"]) == (has_text and has_network)
    assert report["components"]["g2g_parser"]["learns_sentences"] == has_network


def test_command_shows_figures_and_advice_and_writes_them(corpus: str, tmp_path: Path):
    output = tmp_path / "report.json"
    result = g2g("debug-data", TINY, "--json", output, "--paths.train", corpus, "--paths.dev", corpus)
    assert result.exit_code == 0, result.output
    report = json.loads(output.read_text(encoding="utf8"))
    assert (report["train"]["sentences"], report["train"]["non_projective"]) == (10, 2)
    assert report["train"]["words"] == len(TREEBANK.split())
    long = [sentence for sentence in read_treebank() if len(sentence) >= 5]
    assert (report["duplicates"], report["long_duplicates"]) == (10, len(long))
    findings = report["findings"]
    assert {finding["name"] for finding in findings} == {"few_sentences", "duplicates", "rare_labels"}
    text = " ".join(result.output.split())
    for finding in findings:
        assert " ".join(finding["text"].split()) in text
    for row in ("Sentences 10 10", "Non-projective trees 2 (20.0%) 2 (20.0%)", "Multiword tokens unknown"):
        assert row in text
    assert report["components"]["g2g_parser"]["train"]["piece_limit"] == 128 - 3
    # Columns stay in line behind long titles.
    starts = ("Docs ", "Multiword tokens", "Heads in other")
    rows = [line for line in result.output.splitlines() if line.startswith(starts)]
    assert len(rows) == 3
    assert len(set(map(len, rows))) == 1


def test_pieces_are_counted_with_what_does_not_fit():
    words = [["a", "b"], ["a", "a", "a"], ["c"]]
    ids = [[(5,), (6, 7, 8)], [(9, 5)] * 3, [(5,)]]
    pieces = SimpleNamespace(split=lambda sentences: ids, unk_id=9, max_pieces=4)
    corpus: Any = SimpleNamespace(words=words, labels=["dep"] * 6)
    assert count_pieces(pieces, corpus) == {
        "pieces_per_word": 11 / 6,
        "most_pieces": 6,
        "piece_limit": 4,
        "too_many_pieces": 1,
        "in_windows": 0,
        "unknown": 3,
        "unknown_words": {"a": 3},
    }
    pieces.max_pieces = 2
    assert count_pieces(pieces, corpus)["in_windows"] == 1


def test_multiword_tokens_and_tokens_are_known_if_the_reader_keeps_the_conllu(corpus: str, tmp_path: Path):
    path = tmp_path / "sample.conllu"
    path.write_text(SAMPLE, encoding="utf8")
    config = on(corpus)
    config["corpora"]["train"] = {"@readers": "spacy_g2g.Corpus.v1", "path": str(path)}
    train = read_figures(config)["train"]
    assert (train["multiword_tokens"], train["multiword_words"]) == (2, 4)
    assert list(train["token_errors"]) == ["Sí Duerme / SíDuerme"]


def learnable(parser: Any) -> tuple[int, int, int]:
    train = parser["train"]
    return train["learnable"], train["unlearnable"], train["unlearnable_trees"]


@pytest.mark.parametrize("architecture", ["sent_tr", "state_tr", "stack_transformer"])
def test_sentences_that_an_architecture_cannot_learn_are_counted(corpus: str, architecture: str):
    settings = {"components.g2g_parser.model.swap": False, "paths.encoder": "/no/such/folder"}
    config = on(corpus, ROOT / "configs" / f"{architecture}.cfg", **settings)
    parser = read_figures(config)["components"]["g2g_parser"]
    assert learnable(parser) == (8, 2, 2)
    assert "pieces_per_word" not in parser["train"]
    assert "/no/such/folder" in parser["encoder_problem"]


@pytest.mark.parametrize(("architecture", "n"), [("sent_tr", 10), ("stack_transformer", 9)])
def test_only_the_stack_transformer_cannot_learn_a_root_label_below_the_root(
    architecture: str, n: int, tmp_path: Path
):
    vocab = Vocab()
    docs = [gold_doc(vocab, [sentence]) for sentence in read_treebank()]
    next(token for token in docs[0] if token.head.i != token.i).dep_ = "root"
    path = tmp_path / "wrong.spacy"
    DocBin(docs=docs).to_disk(path)
    config = on(str(path), ROOT / "configs" / f"{architecture}.cfg", **{"paths.encoder": "/no/such/folder"})
    report = read_figures(config)
    assert learnable(report["components"]["g2g_parser"])[:2] == (n, 10 - n)
    assert report["train"]["root_label_elsewhere"] == 1


def test_words_without_the_tag_that_a_parser_reads_are_counted(corpus: str):
    settings = {"components.g2g_parser.model.tag_attr": "TAG"}
    config = on(corpus, **settings, **{"corpora.train.annotations": ["SENT_START", "TAG"]})
    parser = read_figures(config)["components"]["g2g_parser"]
    assert parser["train"]["missing_tags"] == 0
    assert parser["dev"]["missing_tags"] == len(TREEBANK.split())


@pytest.mark.parametrize("come_with_corpus", [False, True])
def test_graphs_of_a_refiner_come_from_the_parser_before_it_or_with_the_corpus(
    corpus: str, trained_folder: Path, come_with_corpus: bool
):
    settings = {"paths.parser": str(trained_folder), "nlp.lang": "xx"}
    settings |= {"paths.train_parsed": corpus} if come_with_corpus else {}
    report = read_figures(on(corpus, ROOT / "configs" / "test" / "rngtr_tiny.cfg", **settings))
    assert list(report["components"]) == ["rng_refiner"]
    refiner, n = report["components"]["rng_refiner"], len(TREEBANK.split())
    assert refiner["initial_from"] == ["g2g_parser"]
    n_heads = n if come_with_corpus else 0
    names = ("initial_words", "initial_heads", "initial_right", "initial_share")
    assert [refiner["train"][name] for name in names] == [n, n_heads, n_heads, n_heads / n]


def test_pieces_are_those_of_the_encoder_that_components_share(corpus: str):
    components = read_figures(on(corpus, ROOT / "configs" / "pipeline_scratch.cfg"))["components"]
    parser, refiner = components["g2g_parser"]["train"], components["rng_refiner"]["train"]
    assert refiner["pieces_per_word"] == parser["pieces_per_word"] >= 1


def test_labels_that_were_not_given_are_an_error_and_a_limit_reads_the_first_docs(corpus: str):
    config = on(corpus)
    assert read_figures(config, limit=3)["train"]["docs"] == 3
    config["initialize"]["components"]["g2g_parser"]["labels"] = ["root", "nsubj"]
    unknown = read_figures(config)["components"]["g2g_parser"]["unknown_labels"]
    assert "punct" in unknown
    assert "nsubj" not in unknown


def test_data_without_trees_cannot_be_trained_on(corpus: str, tmp_path: Path):
    path = tmp_path / "plain.spacy"
    DocBin(docs=[plain_doc(spacy.blank("xx").vocab, "a b c")]).to_disk(path)
    code, text = run(str(TINY), "--paths.train", str(path), "--paths.dev", corpus)
    assert code == 1
    assert "train: no_labels" in text


@pytest.mark.parametrize("before_init", [None, {"@callbacks": "spacy_g2g.prepare_pipeline.v1"}])
def test_components_that_have_nothing_to_learn_are_named(before_init: Any, corpus: str):
    config = load_config(
        ROOT / "configs" / "light.cfg", overrides={"paths.train": corpus, "paths.dev": corpus}
    )
    config["initialize"]["before_init"] = before_init
    lacking = {
        "mwt_splitter": "multiword tokens",
        "trainable_lemmatizer": "LEMMA of 3 words formed alike",
        "lemma_table": "LEMMA",
    }
    assert read_figures(config)["untaught"] == lacking
    config["training"]["frozen_components"] = ["mwt_splitter"]
    del lacking["mwt_splitter"]
    assert read_figures(config)["untaught"] == lacking


def test_a_config_without_paths_or_a_component_of_ours_is_an_error(corpus: str, tmp_path: Path):
    code, text = run(str(TINY))
    assert (code, [part in text for part in ("E915", "corpora.train", "--paths.train")]) == (1, [True] * 3)
    config = on(corpus)
    config["training"]["frozen_components"] = ["g2g_parser"]
    config.to_disk(tmp_path / "config.cfg")
    code, text = run(str(tmp_path / "config.cfg"))
    assert (code, "E914" in text) == (1, True)
