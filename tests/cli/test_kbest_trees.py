import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.training import Example

from spacy_g2g.cli.calibrate import calibrate, print_calibration
from spacy_g2g.cli.evaluate import evaluate
from spacy_g2g.cli.parse import parse
from spacy_g2g.data.corpus import unparsed_copy
from spacy_g2g.data.docs import doc_to_sentences
from spacy_g2g.evaluation.calibration import Reliability
from spacy_g2g.evaluation.plots import plot_reliability
from spacy_g2g.formats.conllu import read_conllu
from spacy_g2g.pipeline.sentences import THRESHOLD

from ..util import (
    add_tiny,
    gold_doc,
    graph_examples,
    make_nlp,
    model_config,
    parser_of,
    randomise,
    read_treebank,
    set_encoder,
    treebank_docs,
    treebank_examples,
)

ROOT = Path(__file__).parents[2]
TEXT = """# sent_id = a
1\tshe\t_\tPRON\t_\t_\t_\t_\t_\t_
2\tsaw\t_\tVERB\t_\t_\t3\t_\t_\t_
3\tcats\t_\tNOUN\t_\t_\t_\tobl\t_\t_

1\tGo\t_\tVERB\t_\t_\t_\t_\t_\t_

"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    nlp = make_nlp()
    nlp.initialize(lambda: graph_examples(nlp, "empty"))
    randomise(parser_of(nlp).model, 1, scale=0.25)
    folder = tmp_path_factory.mktemp("random")
    nlp.to_disk(folder)
    return str(folder)


def test_conllu_has_a_block_for_each_tree(folder: str, tmp_path):
    source, out = tmp_path / "in.conllu", tmp_path / "out.conllu"
    source.write_text(TEXT, "utf8")
    assert parse(folder, source, out, kbest=3) == 2
    sentences = list(read_conllu(out, trees="full"))
    assert [sentence.comment("rank") for sentence in sentences] == ["1", "2", "3", "1"]
    assert [sentence.comment("sent_id") for sentence in sentences] == ["a"] * 3 + [None]
    scores = [float(sentence.comment("score") or "nan") for sentence in sentences[:3]]
    assert scores == sorted(scores, reverse=True)
    assert len({tuple(word.head for word in sentence.words) for sentence in sentences[:3]}) == 3
    parse(folder, source, tmp_path / "best.conllu")
    best = next(read_conllu(tmp_path / "best.conllu"))
    assert [(word.head, word.deprel) for word in best.words] == [
        (word.head, word.deprel) for word in sentences[0].words
    ]


@pytest.mark.filterwarnings("ignore:.*G2G-W801")
def test_jsonl_has_the_trees_under_one_key(folder: str, tmp_path):
    source, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_text(json.dumps({"text": "she saw cats", "id": 7}) + "\n", "utf8")
    parse(folder, source, out, kbest=2, confidence=True)
    record = json.loads(out.read_text("utf8"))
    [[first, second]] = record["kbest"]
    assert record["id"] == 7
    assert first["heads"] == [token["head"] for token in record["tokens"]]
    assert first["heads"] != second["heads"]
    assert first["score"] >= second["score"]
    (sure,) = record["confidence"]
    assert 0 < sure["tree"] <= min(sure["arcs"])
    assert [a >= b > 0 for a, b in zip(sure["arcs"], sure["labelled"], strict=True)] == [True] * 3
    assert "g2g_scores" not in out.read_text("utf8")


def test_annotation_of_the_file_is_kept_and_the_rest_is_parsed(folder: str, tmp_path):
    source, out = tmp_path / "in.conllu", tmp_path / "out.conllu"
    source.write_text(TEXT, "utf8")
    parse(folder, source, out, constrain=True, kbest=2)
    only, _ = read_conllu(out, trees="full")  # no other tree meets the constraints
    assert [word.head for word in only.words] == [0, 3, 1]
    assert only.words[2].deprel == "obl"
    source.write_text(TEXT.replace("_\t_\t_\tobl", "_\t_\t2\tobl"), "utf8")
    with pytest.raises(ValueError, match=r"G2G-E516\] .* token 1 'saw' has the head 2 'cats'; token 2"):
        parse(folder, source, out, constrain=True)


def test_calibration_is_fitted_in_place_and_measured(folder: str, tmp_path, capsys):
    copied = tmp_path / "pipeline"
    shutil.copytree(folder, copied)
    short, source = tmp_path / "short.conllu", tmp_path / "gold.conllu"
    sample = read_conllu(ROOT / "assets" / "sample" / "en_sample-ud-dev.conllu")
    short.write_text("".join([str(s) for s in sample if len(s.words) < 8][:9]), "utf8")
    parse(folder, short, source)
    model = (copied / "g2g_parser" / "model").read_bytes()
    before: dict[str, Reliability] = {}
    assert evaluate(str(copied), source, reliabilities=before)["LAS"].f1 == 1.0
    calibrate(copied, source)
    # The parser is always right by its own trees, so the coldest temperature is the best.
    assert max(parser_of(spacy.load(copied)).temperatures) < 0.2
    after: dict[str, Reliability] = {}
    evaluate(str(copied), source, reliabilities=after)
    assert all(after[name].error < before[name].error for name in ("arcs", "labelled arcs", "trees"))
    assert after["arcs"].counts.sum() == sum(len(s.words) for s in read_conllu(source))
    assert (copied / "g2g_parser" / "model").read_bytes() == model
    print_calibration(after)
    row = capsys.readouterr().out.split("labelled arcs")[1].split()
    assert row[0] == f"{100 * after['labelled arcs'].error:.2f}"
    pytest.importorskip("matplotlib")
    plot_reliability(after, tmp_path / "plot.svg", "svg")
    assert "labelled arcs: error" in (tmp_path / "plot.svg").read_text("utf8")


def test_a_parser_and_its_refiner_are_both_calibrated(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    nlp = make_nlp()
    add_tiny(nlp, "rng_refiner")
    nlp.initialize(lambda: treebank_examples(nlp))
    for seed, name in enumerate(nlp.pipe_names):
        randomise(nlp.get_pipe(name).model, seed, scale=0.25)
    nlp.to_disk(tmp_path / "pair")
    with nlp.select_pipes(disable="rng_refiner"):
        docs = list(nlp.pipe(treebank_docs(nlp.vocab)))
    source = tmp_path / "gold.conllu"
    source.write_text("".join(str(s) for doc in docs for s in doc_to_sentences(doc)), "utf8")
    calibrate(tmp_path / "pair", source, silent=False)
    printed = capsys.readouterr().out
    parser, refiner = (pipe for _, pipe in spacy.load(tmp_path / "pair").pipeline)
    # The parser is always right by its own trees, which the refiner changes.
    assert max(parser.temperatures) < 0.2 < max(refiner.temperatures)  # type: ignore[attr-defined]
    for name in nlp.pipe_names:
        assert f"Temperatures of {name}" in printed


def test_a_transition_based_parser_has_no_probabilities_to_fit(tmp_path: Path):
    nlp = make_nlp(row="SentTr", graph_input=False)
    nlp.initialize(lambda: graph_examples(nlp, "empty"))
    nlp.to_disk(tmp_path / "none")
    with pytest.raises(ValueError, match="E814"):
        calibrate(tmp_path / "none", tmp_path / "gold.conllu")


@pytest.mark.parametrize(
    ("finder", "last"),
    [("g2g_parser", "g2g_parser"), ("g2g_encoder", "g2g_parser"), ("g2g_encoder", "tagger")],
)
def test_how_sentences_are_found_is_fitted(finder: str, last: str, tmp_path: Path):
    """In a transition-based parser, and in an encoder before the parser or without one."""
    nlp = spacy.blank("en")
    settings: dict[str, Any] = {"row": "SentTr", "graph_input": False}
    if finder == "g2g_encoder":
        nlp.add_pipe("g2g_encoder")
        settings = {"tok2vec": {"@architectures": "spacy_g2g.EncoderListener.v1"}}
    if last == "g2g_parser":
        nlp.add_pipe("g2g_parser", config={"model": model_config(**settings)})
    set_encoder(nlp, finder)
    gold = [gold_doc(nlp.vocab, read_treebank()[:4])]
    nlp.initialize(lambda: [Example(unparsed_copy(doc, []), doc) for doc in gold])
    nlp.get_pipe(finder).cfg[THRESHOLD] = 50.0  # type: ignore[attr-defined]
    nlp.to_disk(tmp_path / "pipeline")
    source = tmp_path / "gold.conllu"
    source.write_text("".join(map(str, doc_to_sentences(gold[0]))), "utf8")
    calibrate(tmp_path / "pipeline", source)
    assert spacy.load(tmp_path / "pipeline").get_pipe(finder).cfg[THRESHOLD] < 4  # type: ignore[attr-defined]
