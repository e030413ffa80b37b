"""Scripts that the project is made of: choices by treebank, what is done, model cards and the report."""

import json
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer

from experiments import drop_final_punct
from project import (
    all_treebanks,
    model_card,
    report,
    training_config,
    treebank,
    treebank_settings,
    up_to_date,
    wordpiece_encoder,
)

ROOT = Path(__file__).parents[2]
PAPERS = json.loads((ROOT / "assets" / "papers.json").read_text(encoding="utf8"))


# The table of treebanks


def test_the_papers_treebanks_are_those_of_every_ud_table():
    names = treebank_settings.papers_treebanks()
    assert len(names) == 13
    for table in PAPERS["ud"]["tables"]:
        assert list(table["rows"]) == names


@pytest.mark.parametrize(
    "table", PAPERS["ud"]["tables"], ids=lambda table: f"{table['short']} table {table['table']}"
)
def test_figures_of_the_papers_have_the_papers_averages(table: dict[str, Any]):
    """A slip of the pen would move one; the papers' own are off by up to 0.01 (0.03 at one decimal)."""
    for column, average in zip(zip(*table["rows"].values(), strict=True), table["average"], strict=True):
        assert abs(sum(column) / 13 - average) < (0.011 if round(average, 1) != average else 0.03)


def test_lengths_of_rows_are_those_of_the_columns():
    for table in (table for group in PAPERS.values() for table in group["tables"]):
        assert {len(row) for row in table["rows"].values()} == {len(table["columns"])}


@pytest.mark.parametrize(
    ("treebank", "papers"),
    [
        ("UD_Turkish-IMST", "bert-base-multilingual-cased"),
        ("UD_Chinese-GSD", "bert-base-chinese"),
        ("UD_Japanese-GSD", "tohoku-nlp/bert-base-japanese"),
        ("PTB", "bert-base-uncased"),
        ("UD_Dutch-Alpino", "bert-base-multilingual-cased"),
    ],
)
def test_encoders_are_the_treebanks_unless_one_is_named(treebank: str, papers: str):
    source = {"treebank": treebank}
    choose = treebank_settings.choose_encoder
    assert choose("papers", source) == papers
    assert "roberta-base" in choose("modern", source)
    assert choose("mine", source) == "mine"
    assert choose("", source) == choose("null", source) == ""


def test_encoders_of_amrs_are_of_their_own_row():
    source = {"kind": "amr", "treebank": "mine"}
    assert treebank_settings.choose_encoder("papers", source) == "roberta-base"
    assert treebank_settings.choose_encoder("mine", source) == "mine"


def test_every_encoder_of_the_table_has_a_known_licence():
    table = treebank_settings.read_table()
    encoders = {row[choice] for row in table["treebanks"].values() for choice in treebank_settings.CHOICES}
    assert "unknown" not in {treebank_settings.encoder_license(encoder) for encoder in encoders}
    assert treebank_settings.encoder_license("mine") == "unknown"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ({"treebank": "UD_Turkish-IMST", "code": "xx"}, "tr"),
        ({"treebank": "UD_Dutch-Alpino", "code": "nl"}, "nl"),
        ({"treebank": "UD_Kiche-IU", "code": "quc"}, "xx"),
        ({"treebank": "mine"}, "xx"),
        ({}, "xx"),
    ],
)
def test_language_is_the_treebanks_where_spacy_has_it(source: dict[str, str], expected: str):
    assert treebank_settings.choose_language("", source) == expected
    assert treebank_settings.choose_language("de", source) == "de"


@pytest.mark.parametrize(
    ("file", "text", "expected"),
    [
        ("README.md", "# UD\n\nLicense: CC BY-SA 4.0\nIncludes text: yes\n", "CC BY-SA 4.0"),
        ("LICENSE.txt", "Attribution-ShareAlike 4.0 International\n", "CC BY-SA 4.0"),
        ("LICENSE.txt", "http://creativecommons.org/licenses/by-nc-sa/3.0/us/\n", "CC BY-NC-SA 3.0"),
        ("LICENSE.txt", "All rights reserved.\n", "unknown"),
    ],
)
def test_licences_are_found(tmp_path: Path, file: str, text: str, expected: str):
    (tmp_path / file).write_text(text, encoding="utf8")
    assert treebank.find_license(tmp_path) == expected


def test_parts_are_joined_in_the_order_of_their_numbers_with_sentences_apart(tmp_path: Path):
    for part, text in {"a-10": "3\n\n", "a-9": "2", "b": "4\r\n\r\n", "a-1": "1\n"}.items():
        (tmp_path / f"x-ud-train-{part}.conllu").write_bytes(text.encode())
    (tmp_path / "x-ud-dev.conllu").write_text("d\n\n")
    (tmp_path / "x-ud-test.conllu").write_text("t\n\n")
    target = tmp_path / "target"
    target.mkdir()
    parts = treebank._join_splits("x", tmp_path, target)
    assert (target / "train.conllu").read_bytes() == b"1\n\n2\n\n3\n\n4\r\n\r\n"
    assert [part["file"][11:-7] for part in parts["train"]] == ["a-1", "a-9", "a-10", "b"]


# What is done


def test_a_step_is_done_until_input_setting_or_output_change(tmp_path: Path):
    source, output = tmp_path / "in", tmp_path / "out"
    source.write_text("a")

    def sources(setting: int = 1) -> dict[str, Any]:
        made: dict[str, Any] = up_to_date.sources_of({"in": source}, setting=setting)
        return made

    assert not up_to_date.is_up_to_date(output, sources())
    output.mkdir()
    (output / "x").write_text("1")
    assert not up_to_date.is_up_to_date(output, sources())
    up_to_date.record_sources(output, sources())
    assert up_to_date.is_up_to_date(output, sources())
    assert not up_to_date.is_up_to_date(output, sources(setting=2))
    source.write_text("b")
    assert not up_to_date.is_up_to_date(output, sources())
    source.write_text("a")
    assert up_to_date.is_up_to_date(output, sources())
    (output / "x").write_text("2")
    assert not up_to_date.is_up_to_date(output, sources())


def test_epochs_are_turned_into_steps():
    steps = training_config.choose_steps
    assert steps(0, 10, 292) == 2920
    assert steps(20, 10, 292) == 20
    assert steps(0, 0, 292) == 0
    assert steps(0, 0.001, 292) == 1


# Model cards


def score(f1: float) -> dict[str, float]:
    return {"f1": f1}


FACTS = {
    "treebank": {
        "treebank": "UD_Turkish-IMST",
        "tag": "r2.3",
        "license": "CC BY-NC-SA 3.0",
        "commit": "abc",
        "origin": "https://example.org/UD_Turkish-IMST",
        "parts": {"train": [{"file": "/home/me/train.conllu"}]},
    },
    "training": {
        "encoder": "bert-base-chinese",
        "config": "syntr_pretrained.cfg",
        "parser": "/home/me/training/UD_Turkish-IMST/model-best",
        "max_steps": 20,
        "epochs": 0.5,
        "sentences": 40,
        "words": 400,
        "minutes": 1.5,
        "device": "CPU",
        "date": "2026-01-01",
        "versions": {"spacy-g2g": "0.1.0", "PyTorch": "2.13"},
    },
    "exclude_punct": "ud",
}
META = {
    "lang": "tr",
    "name": "g2g",
    "version": "1.0",
    "pipeline": ["g2g_parser"],
    "performance": {"ud_las": 0.5},
    "labels": {"g2g_parser": ["nsubj", "obj"]},
}
SCORES = {
    "dev": {"UAS": score(0.9), "LAS": score(0.8), "CLAS": score(0.7), "UFeats": score(0.3)},
    "test_raw": {"LAS": score(0.75), "Words": score(0.99), "UFeats": score(0.3)},
}


def test_meta_has_scores_licences_and_facts_of_the_training():
    meta = model_card.complete_meta(META, FACTS, SCORES, 12_345_678)
    dev = {"dev_uas": 0.9, "dev_las": 0.8, "dev_clas": 0.7}
    raw = {"test_raw_las": 0.75, "test_raw_words": 0.99}
    assert meta["performance"] == {"ud_las": 0.5, **dev, **raw}
    assert meta["license"] == "CC BY-NC-SA 3.0"
    assert {source["name"]: source["license"] for source in meta["sources"]} == {
        "UD_Turkish-IMST r2.3": "CC BY-NC-SA 3.0",
        "bert-base-chinese": "Apache-2.0",
        "spacy-g2g (code)": "MIT",
    }
    assert meta["spacy_g2g"]["training"]["max_steps"] == 20
    assert meta["spacy_g2g"]["training"]["parser"] == "UD_Turkish-IMST"
    assert "/home/me" not in json.dumps(meta)


def test_tagging_scores_are_those_of_taggers_only():
    meta = {**META, "pipeline": ["morphologizer", "g2g_parser"]}
    meta = model_card.complete_meta(meta, FACTS, SCORES, 1)
    assert meta["performance"]["dev_ufeats"] == 0.3


def test_card_says_what_meta_has():
    card = model_card.model_card(model_card.complete_meta(META, FACTS, SCORES, 12_345_678))
    for text in (
        "# tr_g2g 1.0",
        "| size on disk | 12.3 MB |",
        "|  | Words | UAS | LAS | CLAS |",
        "| development set | - | 90.00 | 80.00 | 70.00 |",
        "| test set, from text | 99.00 | - | 75.00 | - |",
        "Punctuation that is left out: PUNCT in UPOS.",
        "| steps at most | 20 (0.5 epochs) |",
        "| refines | UD_Turkish-IMST |",
        "Dependency trees, trained on UD_Turkish-IMST r2.3: g2g_parser (12 MB).",
        "| labels | g2g_parser 2 |",
        "| UD_Turkish-IMST r2.3 | CC BY-NC-SA 3.0 |",
    ):
        assert text in card


def test_card_says_what_each_component_has_learned():
    labels = {"tagger": ["A", "B", "C"], "senter": [], "g2g_parser": ["nsubj"], "rng_refiner": ["nsubj"]}
    pipeline = ["transformer", "senter", "tagger", "trainable_lemmatizer", "g2g_parser", "rng_refiner"]
    meta = model_card.complete_meta({**META, "pipeline": pipeline, "labels": labels}, FACTS, {}, 1)
    assert meta["description"].startswith(
        "Sentence boundaries, tags, lemmas, dependency trees, trained on UD_"
    )
    card = model_card.model_card(meta)
    assert "| labels | tagger 3, g2g_parser 1, rng_refiner 1 |" in card


def test_card_of_a_parser_of_amrs_has_smatch_of_the_weights_that_are_packaged():
    facts = {
        **FACTS,
        "treebank": {**FACTS["treebank"], "kind": "amr", "treebank": "little-prince", "tag": ""},
    }
    smatch = {"precision": 0.5, "recall": 0.4, "f1": 0.44}
    scores = {"dev": {"Smatch": smatch, "Concepts": score(0.66)}, "test": {"Smatch": score(0.41)}}
    trained = {**META, "pipeline": ["amr_parser"], "performance": {"smatch_f": 0.3}}
    meta = model_card.complete_meta(trained, facts, scores, 1)
    training = {"smatch_p": 0.5, "smatch_r": 0.4, "smatch_f": 0.44}
    assert meta["performance"] == {**training, "dev_smatch": 0.44, "dev_concepts": 0.66, "test_smatch": 0.41}
    card = model_card.model_card(meta)
    for text in (
        "AMRs, trained on little-prince: amr_parser",
        "Scores are Smatch",
        "|  | Smatch | Concepts |",
        "| development set | 44.00 | 66.00 |",
        "| test set | 41.00 | - |",
        "| AMR corpus | little-prince |",
        "trained on the AMR corpus, whose licence",
    ):
        assert text in card


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("training/X/model-best", "X"),
        ("/home/me/mine", "mine"),
        ("en_g2g", "en_g2g"),
        ("model-last", "model-last"),
    ],
)
def test_pipelines_are_named_without_their_folders(path: str, expected: str):
    assert treebank_settings.pipeline_name(path) == expected


def test_card_of_a_pipeline_that_nothing_is_known_of():
    card = model_card.model_card(model_card.complete_meta(META, {}, {}, 1))
    assert "none were noted" in card
    assert "nothing was noted" in card
    assert "unknown" in card


# The report


def write_run(
    metrics: Path, folder: str, facts: dict[str, Any], **scores: dict[str, dict[str, float]]
) -> None:
    (metrics / folder).mkdir(parents=True)
    for split, values in scores.items():
        (metrics / folder / f"{split}.json").write_text(json.dumps(values), encoding="utf8")
    if facts:
        (metrics / folder / "facts.json").write_text(json.dumps(facts), encoding="utf8")


def facts_of(treebank: str, tag: str, kind: str = "parser", run: str = "", **others: Any) -> dict[str, Any]:
    return {"run": run or treebank, "kind": kind, "treebank": {"treebank": treebank, "tag": tag}, **others}


def row_of(section: Any, title: str) -> dict[str, str]:
    (row,) = (row for row in section.rows[1:] if row[0] == title)
    return dict(zip(section.rows[0], row, strict=True))


@pytest.fixture
def metrics(tmp_path: Path) -> Path:
    metrics = tmp_path / "metrics"

    def las(f1: float) -> dict[str, dict[str, float]]:
        return {"UAS": score(0.9), "LAS": score(f1), "CLAS": score(0.5), "LAS_nopunct": score(0.99)}

    write_run(metrics, "UD_Turkish-IMST", facts_of("UD_Turkish-IMST", "r2.3"), dev=las(0.7), test=las(0.71))
    refined = facts_of("UD_Turkish-IMST", "r2.3", "refined")
    write_run(metrics, "UD_Turkish-IMST-refined", refined, dev=las(0.72), test=las(0.725))
    write_run(metrics, "UD_Basque-BDT", facts_of("UD_Basque-BDT", "r2.3"), dev=las(0.8), test=las(0.81))
    newer = facts_of("UD_Turkish-IMST", "r2.15", run="UD_Turkish-IMST_new")
    write_run(metrics, "UD_Turkish-IMST_new", newer, test=las(0.9))
    write_run(metrics, "PTB", facts_of("PTB", "", exclude_punct="conllx"), test=las(0.94))
    write_run(metrics, "sample", {}, dev=las(0.3))
    return metrics


def test_figures_stand_beside_the_papers_of_the_same_treebank(metrics: Path):
    sections = {s.title: s for s in report.make_sections(report.read_runs(metrics), PAPERS)}
    las = sections["LAS, test sets"]
    row = row_of(las, "UD_Turkish-IMST r2.3")
    assert (row["parser"], row["refined"], row["SynTr"], row["BERT SentTr+G2GTr"]) == (
        "71.00", "72.50", "72.52", "67.77"
    )  # fmt: skip
    assert row_of(las, "UD_Turkish-IMST_new r2.15 *")["parser"] == "90.00"
    assert row_of(las, "PTB")["SynTr"] == "-"
    assert row_of(sections["UAS, test sets"], "UD_Basque-BDT r2.3")["SynTr+RNGTr"] == "90.90"
    assert row_of(sections["LAS without punctuation, test sets"], "PTB")["SynTr+RNGTr"] == "95.01"
    assert row_of(sections["LAS without punctuation, test sets"], "PTB")["parser"] == "99.00"


def test_averages_are_over_runs_on_the_papers_data_on_both_sides(metrics: Path):
    las = report.make_sections(report.read_runs(metrics), PAPERS)[0]
    row = row_of(las, "average of these 2 at r2.3")
    assert (row["parser"], row["refined"]) == ("76.00", "-")
    assert row["SynTr"] == f"{(87.49 + 72.52) / 2:.2f}"


def test_runs_of_a_suffix_have_an_average_of_their_own(metrics: Path):
    for name, f1 in (("UD_Turkish-IMST", 0.6), ("UD_Basque-BDT", 0.7)):
        facts = facts_of(name, "r2.3", run=f"{name}_modern")
        write_run(metrics, f"{name}_modern", facts, test={"LAS": score(f1)})
    las = report.make_sections(report.read_runs(metrics), PAPERS)[0]
    plain = row_of(las, "average of the unsuffixed 2 at r2.3")
    modern = row_of(las, "average of the _modern 2 at r2.3")
    assert (plain["parser"], modern["parser"]) == ("76.00", "65.00")
    assert plain["SynTr"] == modern["SynTr"] == f"{(87.49 + 72.52) / 2:.2f}"


def test_runs_without_facts_and_without_test_sets_are_told_too(metrics: Path):
    sections = {s.title: s for s in report.make_sections(report.read_runs(metrics), PAPERS)}
    dev = [row[0] for row in sections["Development sets"].rows[1:]]
    assert dev == ["UD_Basque-BDT r2.3", "UD_Turkish-IMST r2.3", "sample"]
    assert len(sections["Sources"].rows) == 7


def test_markdown_and_page_have_the_same_numbers(metrics: Path):
    sections = report.make_sections(report.read_runs(metrics), PAPERS)
    markdown = report.make_markdown(sections, "Intro.", ["Paper"])
    page = report.make_html(sections, "Intro.", ["Paper"])
    for section in sections:
        assert f"## {section.title}\n" in markdown
        for row in section.rows[1:]:
            assert "| " + " | ".join(row) + " |" in markdown
            assert "".join(f"<td>{cell}</td>" for cell in row[1:]) in page.replace("&#x27;", "'")


# All treebanks


def test_a_treebank_that_fails_does_not_keep_others_from_running(monkeypatch: pytest.MonkeyPatch):
    ran: list[tuple[str, str]] = []

    def run(treebank: str, workflow: str, options: list[str]) -> bool:
        assert options == ["--vars.gpu", "0"]
        ran.append((treebank, workflow))
        return (treebank, workflow) != ("UD_Basque-BDT", "all")

    monkeypatch.setattr(all_treebanks, "run", run)
    with pytest.raises(SystemExit, match=r"Failed: UD_Basque-BDT$"):
        all_treebanks.main(["all", "refine", "--vars.gpu", "0"])
    assert len(ran) == 25
    assert ("UD_Basque-BDT", "refine") not in ran
    assert ran[-1] == ("UD_Turkish-IMST", "refine")


# Japanese BERT


def test_word_pieces_are_made_of_a_vocabulary(tmp_path: Path):
    source = tmp_path / "source"
    source.mkdir()
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "東京", "##都", "に", "ab"]
    (source / "vocab.txt").write_text("\n".join(vocabulary) + "\n", encoding="utf8")
    (source / "config.json").write_text("{}", encoding="utf8")
    (source / "pytorch_model.bin").write_bytes(b"weights")
    target = tmp_path / "encoders" / "target"
    wordpiece_encoder.make_folder(source, target)
    assert sorted(path.name for path in target.iterdir()) == [
        "config.json",
        "pytorch_model.bin",
        "tokenizer.json",
    ]
    tokenizer = Tokenizer.from_file(str(target / "tokenizer.json"))
    encoding = tokenizer.encode(["東京都", "に", "\uff41\uff42", "京"], is_pretokenized=True)
    assert encoding.tokens == ["[CLS]", "東京", "##都", "に", "ab", "[UNK]", "[SEP]"]
    assert encoding.word_ids == [None, 0, 0, 1, 2, 3, None]


def test_only_encoders_without_a_tokenizer_get_a_folder(monkeypatch: pytest.MonkeyPatch):
    module = wordpiece_encoder
    made: list[Path] = []
    monkeypatch.setattr(module, "fetch", lambda name: Path(name))
    monkeypatch.setattr(module, "make_folder", lambda source, target: made.append(target))
    assert module.loadable_encoder("bert-base-chinese") == "bert-base-chinese"
    folder = module.loadable_encoder("tohoku-nlp/bert-base-japanese")
    assert made == [Path(folder)]
    assert made[0].name == "tohoku-nlp--bert-base-japanese"


def test_encoders_of_single_characters_are_refused():
    name = "cl-tohoku/bert-base-japanese-char-v2"
    with pytest.raises(SystemExit, match=rf"^{name} .*as cl-tohoku/bert-base-japanese\.$"):
        wordpiece_encoder.loadable_encoder(name)


# Treebanks without their full stops


def test_a_treebank_that_is_not_there_is_told_and_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr("sys.argv", ["x", str(tmp_path / "none.conllu"), str(tmp_path / "out" / "x.conllu")])
    with pytest.raises(SystemExit):
        drop_final_punct.main()
    assert "none.conllu" in capsys.readouterr().out
    assert list(tmp_path.rglob("*.conllu")) == []
