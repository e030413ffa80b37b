"""`experiments.light` compares two parsers that differ in nothing else, and scores what each wrote."""

import json
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.tokens import Doc, DocBin
from spacy.util import load_config

from experiments import light
from spacy_g2g.formats.conllu import read_conllu

from .util import CONFIGS, write_corpora


def arguments(folder: Path, *more: str) -> list[str]:
    write_corpora(folder)
    return [*(str(folder / name) for name in ("train.conllu", "dev.conllu", "out")), *more]


def config_of(folder: Path, system: str) -> dict[str, Any]:
    values = ["training.dropout=0.3", "components.g2g_parser.model.arc_width=30"]
    args = light.read_arguments(arguments(folder, "--steps", "8", "--set", *values))
    config: dict[str, Any] = light.make_config(system, args).interpolate()
    return config


def test_the_systems_differ_in_their_parser_alone(tmp_path: Path):
    ours, theirs = (config_of(tmp_path, system) for system in ("g2g_parser", "parser"))
    shared = ["tok2vec", "g2g_layout", "tagger", "morphologizer", "trainable_lemmatizer"]
    assert ours["nlp"]["pipeline"] == [*shared, "g2g_parser"]
    assert theirs["nlp"]["pipeline"] == [*shared, "parser"]
    shipped = load_config(CONFIGS / "light.cfg").interpolate()["components"]
    shipped["g2g_parser"]["model"]["arc_width"] = 30
    assert ours["components"] == shipped
    parser = theirs["components"].pop("parser")
    assert theirs["components"] == {name: shipped[name] for name in shared}
    assert parser["model"]["tok2vec"] == shipped["g2g_parser"]["model"]["tok2vec"]
    assert ours["training"] == theirs["training"]
    assert (ours["training"]["max_steps"], ours["training"]["dropout"]) == (8, 0.3)
    assert ours["training"]["optimizer"]["learn_rate"]["total_steps"] == 8


def test_only_the_other_parser_learns_the_root_label_of_spacy(tmp_path: Path):
    roots = {}
    for system in light.SYSTEMS:
        path = config_of(tmp_path, system)["paths"]["train"]
        docs = list(DocBin().from_disk(path).get_docs(spacy.blank("xx").vocab))
        roots[system] = {token.dep_ for doc in docs for token in doc if token.head == token}
        assert max(len(list(doc.sents)) for doc in docs) == light.SENTENCES_PER_DOC
    assert roots == {"parser": {"ROOT"}, "g2g_parser": {"root"}}


def test_trees_are_read_from_docs_with_one_root_or_more(tmp_path: Path):
    write_corpora(tmp_path)
    sentence = next(iter(read_conllu(tmp_path / "dev.conllu")))
    words = [word.form for word in sentence.words]
    heads = [0, 1, *[1] * (len(words) - 2)]
    doc = Doc(
        spacy.blank("xx").vocab,
        words=words,
        heads=heads,
        deps=["ROOT", "ROOT", *["x"] * len(words)][: len(words)],
    )
    found = light.with_tree(sentence, doc)
    assert [word.head for word in found.words] == [0, 0, *[2] * (len(words) - 2)]
    assert [word.deprel for word in found.words] == ["root", "root", *["x"] * (len(words) - 2)]


@pytest.mark.slow
def test_both_are_trained_scored_and_timed(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    text = (CONFIGS.parent / "assets" / "sample" / "en_sample-ud-dev.conllu").read_text(encoding="utf8")
    few = tmp_path / "few.conllu"
    few.write_text("\n\n".join(text.split("\n\n")[:12]) + "\n\n", encoding="utf8")
    output = tmp_path / "out"
    command = [str(few), str(few), str(output), "--steps", "4", "--runs", "1"]
    command += ["--set", "training.logger.progress_bar=false"]
    light.main(command)
    table = json.loads((output / "table.json").read_text(encoding="utf8"))
    for system in light.SYSTEMS:
        assert 0 <= sum(table[system]["las"]) <= sum(table[system]["uas"]) <= sum(table[system]["words"])
        assert len(table[system]["words_per_second"]) == 1
    assert table["g2g_parser"]["one_root"] == 1.0
    assert "| SynTr | " in capsys.readouterr().out
    trained = {path: path.stat().st_mtime_ns for path in output.glob("*/model-best/meta.json")}
    light.main(command)
    assert trained == {path: path.stat().st_mtime_ns for path in trained}
    assert len(trained) == 2
