"""`experiments.whole_pipeline` times pipelines that are given sentences, and pipelines that find them."""

from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from experiments import whole_pipeline
from experiments.whole_pipeline import FOUND, GIVEN

from ..util import component_config, gold_doc, read_treebank, set_encoder
from .util import write_corpora


def examples(nlp: Language) -> list[Example]:
    """One Example of all sentences, from which boundaries are learned."""
    gold = gold_doc(nlp.vocab, read_treebank())
    return [Example(Doc(nlp.vocab, words=[token.text for token in gold]), gold)]


def make_ours() -> Language:
    nlp = spacy.blank("xx")
    nlp.add_pipe("g2g_encoder")
    set_encoder(nlp, "g2g_encoder", min_frequency=1)
    config = component_config()
    config["model"]["tok2vec"] = {"@architectures": "spacy_g2g.EncoderListener.v1"}
    nlp.add_pipe("g2g_parser", config=config)
    nlp.initialize(lambda: examples(nlp))
    return nlp


def make_theirs() -> Language:
    nlp = spacy.blank("xx")
    nlp.add_pipe("senter")
    nlp.initialize(lambda: examples(nlp))
    return nlp


def test_each_pipeline_reads_sentences_and_documents(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    write_corpora(tmp_path)
    dev = tmp_path / "dev.conllu"
    blocks = dev.read_text("utf8").split("\n\n")
    blocks[4] = f"# newpar\n{blocks[4]}"
    dev.write_text("\n\n".join(blocks), encoding="utf8")
    for name, nlp in (("ours", make_ours()), ("theirs", make_theirs())):
        nlp.to_disk(tmp_path / name)
    read = []
    original = whole_pipeline.parse

    def parse(nlp: Language, docs: list[Doc], disable: list[str]) -> None:
        names = [name for name in nlp.pipe_names if name not in disable]
        boundaries: Any = getattr(nlp.get_pipe(names[0]), "boundaries", None) if names else None
        precision = boundaries and boundaries.attrs["precision"]
        has_starts = {doc.has_annotation("SENT_START") for doc in docs}
        read.append((names, precision, len(docs), has_starts))
        original(nlp, docs, disable)

    monkeypatch.setattr(whole_pipeline, "parse", parse)
    whole_pipeline.main([*(str(tmp_path / name) for name in ("ours", "theirs", "dev.conllu")), "--runs", "1"])
    # Once to warm up, and once that counts.
    both = ["g2g_encoder", "g2g_parser"]
    float32 = [(both, "float32", 10, {True}), (both, "float32", 2, {False})]
    theirs = [([], None, 10, {True}), (["senter"], None, 2, {False})]
    bfloat16 = [(both, "bfloat16", 10, {True}), (both, "bfloat16", 2, {False})]
    assert read == [*float32, *theirs, *bfloat16] * 2
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("10 sentences in 2 documents, ")
    rows = {cells[1].strip(): cells[2:-1] for cells in (line.split("|") for line in lines[3:9])}
    assert list(rows) == [
        whole_pipeline.BARE,
        "g2g_encoder",
        *(f"{name}, {given}" for name in ("ours", "theirs") for given in (GIVEN, FOUND)),
    ]
    assert all(cell.endswith("(1.00) ") for cell in rows[whole_pipeline.BARE])
    assert [bool(cell.strip()) for cell in rows[f"theirs, {FOUND}"]] == [True, False]
