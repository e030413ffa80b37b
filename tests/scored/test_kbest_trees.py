import json
from pathlib import Path

import pytest

from spacy_g2g.analysis.evaluate import evaluate
from spacy_g2g.conversion.parse import parse
from spacy_g2g.formats.conllu import read_conllu

from ..util import random_nlp

TEXT = """# sent_id = a
1\tshe\t_\tPRON\t_\t_\t_\t_\t_\t_
2\tsaw\t_\tVERB\t_\t_\t3\t_\t_\t_
3\tcats\t_\tNOUN\t_\t_\t_\tobl\t_\t_

1\tGo\t_\tVERB\t_\t_\t_\t_\t_\t_

"""


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "in.conllu"
    path.write_text(TEXT, "utf8")
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("random")
    random_nlp().to_disk(folder)
    return str(folder)


def test_conllu_has_a_block_for_each_tree(folder: str, source: Path, tmp_path: Path):
    out = tmp_path / "out.conllu"
    assert parse(folder, source, out, kbest=3) == 2
    sentences = list(read_conllu(out, trees="full"))
    assert [sentence.comment("rank") for sentence in sentences] == ["1", "2", "3", "1"]
    assert [sentence.comment("sent_id") for sentence in sentences] == ["a"] * 3 + [None]
    scores = [float(sentence.comment("score") or "nan") for sentence in sentences[:3]]
    assert scores == sorted(scores, reverse=True)
    assert len({tuple(word.head for word in sentence.words) for sentence in sentences[:3]}) == 3
    parse(folder, source, tmp_path / "best.conllu")
    best = next(read_conllu(tmp_path / "best.conllu"))
    assert [word.head for word in best.words] == [word.head for word in sentences[0].words]
    assert [word.deprel for word in best.words] == [word.deprel for word in sentences[0].words]


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
    assert [a >= b > 0 for a, b in zip(sure["arcs"], sure["labeled"], strict=True)] == [True] * 3
    assert "g2g_scores" not in out.read_text("utf8")


def test_annotation_of_the_file_is_kept_and_the_rest_is_parsed(folder: str, source: Path, tmp_path: Path):
    out = tmp_path / "out.conllu"
    parse(folder, source, out, constrain=True, kbest=2)
    only, _ = read_conllu(out, trees="full")  # no other tree meets the constraints
    assert [word.head for word in only.words] == [0, 3, 1]
    assert only.words[2].deprel == "obl"
    source.write_text(TEXT.replace("_\t_\t_\tobl", "_\t_\t2\tobl"), "utf8")
    with pytest.raises(ValueError, match=r"G2G-E516\] .* token 1 'saw' has the head 2 'cats'; token 2"):
        parse(folder, source, out, constrain=True)


WHITE = """1\tshe\t_\tPRON\t_\t_\t3\tobl\t_\t_
2\t\u3000\t_\tPUNCT\t_\t_\t1\tpunct\t_\t_
3\tcats\t_\tNOUN\t_\t_\t0\troot\t_\t_

1\t\u00a0\t_\tNOUN\t_\t_\t0\troot\t_\t_

"""


def test_words_of_white_space_are_no_obstacle(folder: str, source: Path, tmp_path: Path):
    out = tmp_path / "out.conllu"
    source.write_text(WHITE, "utf8")
    parse(folder, source, out, constrain=True)
    assert [word.head for word in next(read_conllu(out)).words] == [3, 1, 0]
    parse(folder, source, out, kbest=2)
    sentences = list(read_conllu(out, trees="full"))
    forms = [[word.form for word in sentence.words] for sentence in sentences]
    assert forms == [["she", "\u3000", "cats"]] * 2
    assert [sentence.words[1].head for sentence in sentences] == [1, 1]
    assert {sentence.words[0].head for sentence in sentences} == {0, 3}
    scores = evaluate(folder, source, calibration=True, silent=True)
    assert scores["Words"].correct == 4


def test_constraints_and_white_space_of_the_file_reach_jsonl(folder: str, source: Path, tmp_path: Path):
    out = tmp_path / "out.jsonl"
    source.write_text(TEXT.replace("_\n2", "SpacesAfter=\\s\\n\n2"), "utf8")
    parse(folder, source, out, constrain=True)
    record = json.loads(out.read_text("utf8").splitlines()[0])
    assert record["text"] == "she \nsaw cats"
    assert [token["head"] for token in record["tokens"]][2] == 3
    assert record["tokens"][3]["dep"] == "obl"
