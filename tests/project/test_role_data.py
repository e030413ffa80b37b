"""PropBank's roles on a treebank, and the workflow `roles` of project.yml."""

import json
from pathlib import Path

import pytest
from spacy.vocab import Vocab

from project.role_data import main, read_spans
from spacy_g2g.data.docs import sentences_to_doc
from spacy_g2g.formats.conllu import read_conllu

from .test_workflows import ENCODER, make_project, sample
from .workflows import run_workflow

#: Words, and the columns of a skeleton from the lemma on.
DOGS = [("Dogs", 2, "-", "-", "(ARG0*)"), ("bark", 0, "bark", "bark.01", "(V*)"), (".", 2, "-", "-", "*")]
MEN = [
    ("The", 2, "-", "-", "(ARG0*", "(ARG0*"),
    ("men", 3, "-", "-", "*)", "*)"),
    ("want", 0, "want", "want.01", "(V*)", "*"),
    ("to", 5, "-", "-", "(ARG1*", "*"),
    ("go", 3, "go", "go.01", "*)", "(V*)"),
]
YES = [("Yes", 0, "-", "-")]


def conllu(rows: list, sent_id: str) -> str:
    lines = [f"# sent_id = {sent_id}"]
    for number, (word, head, *_) in enumerate(rows, start=1):
        cells = [str(number), word, "_", "X", "_", "_", str(head), "dep" if head else "root", "_", "_"]
        lines.append("\t".join(cells))
    return "\n".join(lines) + "\n\n"


def skeleton(rows: list) -> str:
    lines = []
    for number, (_, _, *cells) in enumerate(rows):
        lines.append(" ".join(["doc", "0", str(number), "[WORD]", "X", "*", *cells]))
    return "\n".join(lines) + "\n\n"


@pytest.fixture
def propbank(tmp_path: Path) -> Path:
    folder = tmp_path / "propbank"
    path = folder / "data/google/ewt/weblog/00/a.com_1.xml.gold_skel"
    path.parent.mkdir(parents=True)
    broken = [(*DOGS[0][:4], "(ARG0*"), *DOGS[1:]]
    path.write_text("".join(map(skeleton, (DOGS, MEN, YES, DOGS, broken))), encoding="utf8")
    (folder / "LICENSE").write_text("Attribution-ShareAlike 4.0 International\n", encoding="utf8")
    return folder


@pytest.fixture
def treebank(tmp_path: Path) -> Path:
    folder = tmp_path / "treebank"
    folder.mkdir()
    rows = [*zip((DOGS, MEN, YES, MEN, DOGS, DOGS), "123457", strict=True)]
    (folder / "train.conllu").write_text(
        "".join(conllu(own, f"weblog-a.com_1-000{number}") for own, number in rows), encoding="utf8"
    )
    (folder / "dev.conllu").write_text(conllu(DOGS, "weblog-a.com_1-0001"), encoding="utf8")
    (folder / "LICENSE.txt").write_text("Attribution 4.0 International\n", encoding="utf8")
    source = {"treebank": "UD_English-Tiny", "license": "CC BY 4.0"}
    (folder / "source.json").write_text(json.dumps(source), encoding="utf8")
    return folder


def test_spans_may_be_nested():
    assert sorted(read_spans(["(A(B*)", "*", "(C*))"])) == [("A", 1, 3), ("B", 1, 1), ("C", 3, 3)]
    for cells in (["(A*"], ["*)"]):
        with pytest.raises(ValueError, match="bracket"):
            read_spans(cells)


def test_roles_are_laid_on_words_and_what_does_not_fit_is_named(
    treebank: Path, propbank: Path, tmp_path: Path
):
    output = tmp_path / "roles"
    main([str(treebank), str(output), "--propbank", str(propbank)])
    sentences = list(read_conllu(output / "train.conllu"))
    assert [sentence.comment("roles") for sentence in sentences] == ["PropBank"] * 3
    doc = sentences_to_doc(sentences, Vocab())
    found = [
        (each.word, each.roleset, [argument[:4] for argument in each.arguments]) for each in doc._.g2g_roles
    ]
    assert found == [
        (1, "bark.01", [("ARG0", 0, 0, 1)]),
        (5, "want.01", [("ARG0", 4, 3, 5), ("ARG1", 7, 6, 8)]),
        (7, "go.01", [("ARG0", 4, 3, 5)]),
    ]
    unfit = (output / "unfit.txt").read_text(encoding="utf8").splitlines()
    assert [line.partition(": ")[0][-1] for line in unfit] == ["4", "5", "7"]
    assert "5 words in the treebank, 3 in PropBank" in unfit[0]
    assert "does not close" in unfit[1]
    source = json.loads((output / "source.json").read_text(encoding="utf8"))
    assert source["license"] == "CC BY 4.0 and CC BY-SA 4.0"
    assert [each["treebank"] for each in source["annotations"]] == ["UD_English-Tiny", "PropBank"]
    assert sorted(path.name for path in output.glob("LICENSE*")) == ["LICENSE-PropBank", "LICENSE.txt"]


@pytest.mark.slow
def test_a_treebank_of_other_documents_is_an_error(treebank: Path, propbank: Path, tmp_path: Path):
    (treebank / "dev.conllu").write_text(conllu(DOGS, "other-1"), encoding="utf8")
    with pytest.raises(SystemExit, match=r"dev\.conllu fits PropBank.*other-1"):
        main([str(treebank), str(tmp_path / "roles"), "--propbank", str(propbank)])
    assert not (tmp_path / "roles").exists()
    with pytest.raises(SystemExit, match="Can't clone PropBank"):
        main([str(treebank), str(tmp_path / "roles"), "--propbank", str(tmp_path)])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_the_workflow_trains_scores_and_packages_roles(tmp_path: Path):
    base, folder = tmp_path / "base" / "UD_English-Tiny", tmp_path / "propbank"
    skeletons = folder / "data/google/ewt/weblog/00"
    for path in (base, skeletons):
        path.mkdir(parents=True)
    for split, n in (("train", 12), ("dev", 4), ("test", 4)):
        blocks = []
        for number, block in enumerate(sample("train" if split == "train" else split, n), start=1):
            lines = [line for line in block.splitlines() if line and not line.startswith("#")]
            blocks.append("\n".join([f"# sent_id = weblog-{split}-{number:04}", *lines]) + "\n\n")
        (base / f"en_tiny-ud-{split}.conllu").write_text("".join(blocks), encoding="utf8")
        rows = []
        for block in blocks:
            n_words = sum(line.split("\t")[0].isdigit() for line in block.splitlines())
            first = ("-", 0, "x", "x.01", "(V*)")
            rows.append(skeleton([first, *[("-", 0, "-", "-", "(ARG1*)")] * (n_words - 1)]))
        (skeletons / f"{split}.xml.gold_skel").write_text("".join(rows), encoding="utf8")
    for path, terms in ((base, "Attribution"), (folder, "Attribution-ShareAlike")):
        (path / "LICENSE").write_text(f"{terms} 4.0 International\n", encoding="utf8")
    project = make_project(tmp_path / "project")
    variables = {"treebank": "UD_English-Tiny", "ud_base": str(base.parent), "propbank": str(folder)}
    variables |= {"encoder": str(ENCODER), "steps": "1", "name": "tiny"}
    run_workflow(project, "roles", variables)
    metrics = json.loads((project / "metrics/UD_English-Tiny-roles/dev.json").read_text(encoding="utf8"))
    assert metrics["Roles"]["gold"] > 0
    (package,) = (project / "packages/UD_English-Tiny-roles").glob("en_tiny_roles-0.1.0")
    card = (package / "README.md").read_text(encoding="utf8")
    assert "PropBank" in card
    assert "CC BY-SA 4.0" in card
    assert "Roles" in card
