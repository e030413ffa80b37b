"""Table of treebanks, treebanks' files, and workflows for all of them."""

import json
from pathlib import Path
from typing import Any

import pytest

from project import all_treebanks, treebank_files, treebank_settings
from project.treebank import download, import_files

ROOT = Path(__file__).parents[2]
PAPERS = json.loads((ROOT / "assets" / "papers.json").read_text(encoding="utf8"))


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
    ("treebank", "code", "papers", "modern"),
    [
        ("UD_Turkish-IMST", "tr", "bert-base-multilingual-cased", "xlm-roberta-base"),
        ("UD_Chinese-GSD", "", "bert-base-chinese", "xlm-roberta-base"),
        ("UD_Japanese-GSD", "", "tohoku-nlp/bert-base-japanese", "xlm-roberta-base"),
        ("PTB", "", "bert-base-uncased", "google/electra-base-discriminator"),
        (
            "UD_German-GSD",
            "de",
            "bert-base-multilingual-cased",
            "german-nlp-group/electra-base-german-uncased",
        ),
        ("Mine", "", "bert-base-multilingual-cased", "xlm-roberta-base"),
    ],
)
def test_encoders_are_the_treebanks_unless_one_is_named(treebank: str, code: str, papers: str, modern: str):
    source = {"treebank": treebank, "code": code}
    choose = treebank_settings.choose_encoder
    assert choose("papers", source) == papers
    assert choose("modern", source) == modern
    assert choose("mine", source) == "mine"
    assert choose("", source) == choose("null", source) == ""


def test_encoders_of_amrs_are_of_their_own_row():
    source = {"kind": "amr", "treebank": "mine"}
    assert treebank_settings.choose_encoder("papers", source) == "roberta-base"
    assert treebank_settings.choose_encoder("modern", source) == "roberta-base"
    assert treebank_settings.choose_encoder("mine", source) == "mine"


def test_every_encoder_of_the_table_has_a_known_license():
    table = treebank_settings.read_table()
    rows = table["treebanks"].values()
    encoders = {row["papers"] for row in rows} | {*treebank_settings.read_encoders()["modern"].values()}
    assert "unknown" not in {treebank_settings.encoder_license(encoder) for encoder in encoders}
    assert treebank_settings.encoder_license("mine") == "unknown"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ({"treebank": "UD_Turkish-IMST", "code": "xx"}, "tr"),
        ({"treebank": "UD_Dutch-Alpino", "code": "nl"}, "nl"),
        ({"treebank": "UD_Korean-GSD"}, "ko"),
        ({"treebank": "UD_Vietnamese-VTB", "code": "vi"}, "vi"),
        ({"treebank": "UD_Japanese-GSD"}, "ja"),
        ({"treebank": "UD_Thai-PUD", "code": "th"}, "th"),
        ({"treebank": "UD_Kiche-IU", "code": "quc"}, "xx"),
        ({"treebank": "UD_Norwegian-NynorskLIA", "code": "no", "prefix": "no_nynorsklia"}, "nn"),
        ({"treebank": "UD_Norwegian-Bokmaal", "code": "nb", "prefix": "no_bokmaal"}, "nb"),
        ({"treebank": "mine", "code": "no"}, "nb"),
        ({"treebank": "mine"}, "xx"),
        ({}, "xx"),
    ],
)
def test_language_is_the_treebanks_where_spacy_has_it(source: dict[str, str], expected: str):
    assert treebank_settings.choose_language("", source) == expected
    assert treebank_settings.choose_language("de", source) == "de"


@pytest.mark.parametrize(
    ("source", "n_warnings"),
    [
        ({"treebank": "mine", "code": ""}, 1),
        ({"treebank": "A and B", "code": "xx"}, 0),
        ({"treebank": "mine", "code": "de"}, 0),
    ],
)
def test_a_language_that_is_not_known_is_told(
    source: dict[str, str], n_warnings: int, capsys: pytest.CaptureFixture[str]
):
    treebank_settings.choose_language("", source)
    printed = " ".join(capsys.readouterr().out.split())
    assert printed.count("that of mine isn't known. --vars.lang sets it.") == n_warnings


@pytest.mark.parametrize(
    ("names", "code"),
    [
        (["tr_imst-ud-train.conllu"], "tr"),
        (["cs_pdt-ud-train-a.conllu", "cs_pdt-ud-train-b.conllu"], "cs"),
        (["tr_imst-ud-train.conllu", "fr_gsd-ud-train.conllu"], ""),
        (["no_bokmaal-ud-train.conllu"], "nb"),
        (["no_nynorsk-ud-train.conllu", "no_nynorsklia-ud-train.conllu"], "nn"),
        (["mine.conllu"], ""),
    ],
)
def test_names_of_treebank_files_tell_the_language(names: list[str], code: str):
    assert treebank_files.language_code(map(Path, names)) == code


@pytest.mark.parametrize(
    ("file", "text", "expected"),
    [
        ("README.md", "# UD\n\nLicense: CC BY-SA 4.0\nIncludes text: yes\n", "CC BY-SA 4.0"),
        ("LICENSE.txt", "Attribution-ShareAlike 4.0 International\n", "CC BY-SA 4.0"),
        ("LICENSE.txt", "http://creativecommons.org/licenses/by-nc-sa/3.0/us/\n", "CC BY-NC-SA 3.0"),
        ("LICENSE.txt", "All rights reserved.\n", "unknown"),
    ],
)
def test_licenses_are_found(tmp_path: Path, file: str, text: str, expected: str):
    (tmp_path / file).write_text(text, encoding="utf8")
    assert treebank_files.find_license(tmp_path) == expected


def test_parts_are_joined_in_the_order_of_their_numbers_with_sentences_apart(tmp_path: Path):
    for part, text in {"a-10": "3\n\n", "a-9": "2", "b": "4\r\n\r\n", "a-1": "1\n"}.items():
        (tmp_path / f"x-ud-train-{part}.conllu").write_bytes(text.encode())
    (tmp_path / "x-ud-dev.conllu").write_text("d\n\n")
    (tmp_path / "x-ud-test.conllu").write_text("t\n\n")
    target = tmp_path / "target"
    target.mkdir()
    parts = treebank_files.join_splits("x", tmp_path, target=target)
    assert (target / "train.conllu").read_bytes() == b"1\n\n2\n\n3\n\n4\r\n\r\n"
    assert [part["file"][11:-7] for part in parts["train"]] == ["a-1", "a-9", "a-10", "b"]


@pytest.mark.parametrize("split", ["train", "test"])
def test_a_treebank_that_is_released_without_its_words_is_refused(tmp_path: Path, split: str):
    source, target = tmp_path / "source", tmp_path / "target"
    source.mkdir()
    target.mkdir()
    word = "{}\t{}\t_\tNOUN\t_\t_\t0\troot\t_\t_\n"
    forms = {"train": ["a", "_"], split: ["_", "a", "_"]}
    for name, words in forms.items():
        text = "".join(word.format(i, form) for i, form in enumerate(words, start=1))
        (source / f"x-ud-{name}.conllu").write_text(f"# text = _\n1-2\t_\t_\n{text}\n", encoding="utf8")
    with pytest.raises(SystemExit, match=rf"x-ud-{split}.conllu lacks its words: 2 of 3 \(67%\) are _\."):
        treebank_files.join_splits("x", source, target=target)
    files = {"train": source / f"x-ud-{split}.conllu"}
    with pytest.raises(SystemExit, match="lacks its words"):
        import_files("mine", files, tmp_path / "mine", checksums=tmp_path / "mine.sha256")


def test_plain_folders_have_no_tag(tmp_path: Path):
    for name in ("A", "B"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x_a-ud-train.conllu").write_text("1\n\n")
        (tmp_path / name / "x_a-ud-dev.conllu").write_text("1\n\n")
    for treebank in ("A", "A B"):
        folder = tmp_path / "assets" / treebank
        checksums = folder.with_suffix(".sha256")
        download(str(tmp_path), treebank=treebank, tag="r2.3", folder=folder, checksums=checksums)
        source = treebank_settings.read_source(folder)
        assert {each["tag"] for each in (source, *source.get("treebanks", []))} == {""}


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


@pytest.mark.linux
def test_files_outside_a_treebank_and_folders_are_not_copied(tmp_path: Path):
    source, target = tmp_path / "source", tmp_path / "target"
    source.mkdir()
    target.mkdir()
    (tmp_path / "secret").write_text("TOP SECRET KEY")
    for split in treebank_files.SPLITS:
        (source / f"x-ud-{split}.conllu").write_text("1\n\n")
    (source / "x-ud-train-2.conllu").symlink_to(tmp_path / "secret")
    (source / "LICENSE.txt").symlink_to(tmp_path / "secret")
    (source / "README.txt").symlink_to("README.md")
    (source / "README.md").write_text("# UD")
    (source / "LICENSES").mkdir()
    treebank_files.join_splits("x", source, target=target)
    assert {path.name for path in target.iterdir()} == {
        "train.conllu",
        "dev.conllu",
        "test.conllu",
        "README.md",
        "README.txt",
    }
    assert (target / "train.conllu").read_text() == "1\n\n"
