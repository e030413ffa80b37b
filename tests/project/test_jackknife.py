"""`project/jackknife.py`: each sentence is parsed by a parser that has not seen it."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc

from project import jackknife
from spacy_g2g.conversion.convert import convert
from spacy_g2g.data.corpus import read_gold_docs
from spacy_g2g.data.source import USER_DATA_KEY
from spacy_g2g.formats.conllu import ConlluSentence, read_conllu

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
N_SENTENCES = 12


def arguments(folder: Path, *more: str, output: str = "predicted.conllu") -> list[str]:
    config = str(ROOT / "configs" / "test" / "syntr_tiny.cfg")
    options = {"--dev": str(folder / "dev.conllu"), "--config": config, "--folds": "2", "--block": "3"}
    # The config has no `paths.encoder`, so that this one is not used.
    options |= {
        "--encoder": "bert-base-cased",
        "--steps": "2",
        "--lang": "en",
        "--work": str(folder / "work"),
    }
    pairs = [item for pair in options.items() for item in pair]
    return [str(folder / "train.spacy"), str(folder / output), *pairs, *more]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a jackknifed training set of a few sentences."""
    folder = tmp_path_factory.mktemp("jackknife")
    for part, n in (("train", N_SENTENCES), ("dev", 2)):
        text = (ROOT / "assets" / "sample" / f"en_sample-ud-{part}.conllu").read_text(encoding="utf8")
        blocks = text.strip().split("\n\n")[:n]
        (folder / f"{part}.conllu").write_text("".join(f"{b}\n\n" for b in blocks), encoding="utf8")
    convert([folder / "train.conllu"], folder / "train.spacy", lang="en")
    jackknife.main(arguments(folder))
    return folder


@pytest.fixture
def copied(made: Path, tmp_path: Path) -> Path:
    """The same, free to be changed."""
    return Path(shutil.copytree(made, tmp_path / "copy"))


@pytest.fixture
def trained(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The folds that are trained on from now on."""
    folds: list[str] = []
    original: Callable[..., None] = jackknife.train

    def spy(config: Path, output: Path, **kwargs: Any) -> None:
        folds.append(output.parent.name)
        original(config, output, **kwargs)

    monkeypatch.setattr(jackknife, "train", spy)
    return folds


def docs_of(path: Path) -> list[Doc]:
    return list(read_gold_docs([path], spacy.blank("xx").vocab))


def ids_of(path: Path) -> list[str | None]:
    """The sent_ids of a fold's corpus."""
    texts = [text for doc in docs_of(path) for text in doc.user_data[USER_DATA_KEY]["text"]]
    return [next(read_conllu(text.splitlines(keepends=True))).comment("sent_id") for text in texts]


def tree_of(sentence: ConlluSentence) -> list[tuple[int | None, str]]:
    return [(word.head, word.deprel) for word in sentence.words]


def test_no_parser_parses_what_it_has_learned_from(made: Path):
    everything = {sentence.comment("sent_id") for sentence in read_conllu(made / "train.conllu")}
    parsed: list[str | None] = []
    for fold in ("1", "2"):
        learned, held_out = (
            ids_of(made / "work" / fold / f"{name}.spacy") for name in ("learned", "held_out")
        )
        assert set(learned) & set(held_out) == set()
        assert set(learned) | set(held_out) == everything
        assert held_out == ids_of(made / "work" / fold / "predicted.spacy")
        parsed += held_out
    assert len(parsed) == len(set(parsed)) == N_SENTENCES


def test_the_parsers_are_not_shown_the_gold_trees(made: Path):
    docs = [doc for fold in ("1", "2") for doc in docs_of(made / "work" / fold / "held_out.spacy")]
    assert not any(doc.has_annotation("DEP") or any(token.head.i != token.i for token in doc) for doc in docs)
    assert all(doc.has_annotation("TAG") and doc.has_annotation("SENT_START") for doc in docs)


def test_the_output_has_the_predicted_trees_in_the_order_of_the_training_set(made: Path):
    gold = list(read_conllu(made / "train.conllu"))
    predicted = list(read_conllu(made / "predicted.conllu", trees="full"))
    assert [s.comments for s in predicted] == [s.comments for s in gold]
    assert [[w.form for w in s.words] for s in predicted] == [[w.form for w in s.words] for s in gold]
    of_fold = {}
    for fold in ("1", "2"):
        path = made / "work" / fold / "predicted.spacy"
        of_fold |= dict(zip(ids_of(path), docs_of(path), strict=True))
    for sentence in predicted:
        doc = of_fold[sentence.comment("sent_id")]
        heads = [0 if token.head.i == token.i else token.head.i + 1 for token in doc]
        assert tree_of(sentence) == list(zip(heads, [token.dep_ for token in doc], strict=True))
    assert [tree_of(s) for s in predicted] != [tree_of(s) for s in gold]


def test_it_goes_on_with_the_folds_that_are_not_parsed(copied: Path, trained: list[str]):
    before = (copied / "predicted.conllu").read_bytes()
    (copied / "predicted.conllu").unlink()
    jackknife.main(arguments(copied))
    assert (trained, (copied / "predicted.conllu").read_bytes()) == ([], before)
    (copied / "work" / "2" / "predicted.spacy").unlink()
    jackknife.main(arguments(copied))
    assert (trained, (copied / "predicted.conllu").read_bytes()) == (["2"], before)


def test_docs_may_be_written_instead_of_conllu(copied: Path, trained: list[str]):
    jackknife.main(arguments(copied, output="predicted.spacy"))
    assert trained == []
    written = (copied / "predicted.spacy").read_bytes()
    jackknife.main(arguments(copied, output="predicted.spacy"))
    assert (copied / "predicted.spacy").read_bytes() == written
    assert [[(t.head.i - d[0].i, t.dep_) for t in d] for d in docs_of(copied / "predicted.spacy")] == [
        [(w.head - 1 if w.head else i, w.deprel) for i, w in enumerate(s.words) if w.head is not None]
        for s in read_conllu(copied / "predicted.conllu")
    ]


def test_folds_of_other_settings_are_not_mixed(copied: Path, trained: list[str]):
    with pytest.raises(SystemExit, match="other settings: folds, seed"):
        jackknife.main(arguments(copied, "--seed", "1", "--folds", "3"))
    gold = (copied / "train.conllu").read_text(encoding="utf8")
    (copied / "train.conllu").write_text(gold.replace("nsubj", "dep"), encoding="utf8")
    convert([copied / "train.conllu"], copied / "train.spacy", lang="en")
    with pytest.raises(SystemExit, match="other settings: train"):
        jackknife.main(arguments(copied))
    assert trained == []


def test_a_training_set_may_be_a_folder(copied: Path, trained: list[str]):
    folder = copied / "corpus"
    (folder / "inner").mkdir(parents=True)
    shutil.copyfile(copied / "train.spacy", folder / "inner" / "train.spacy")
    more = ("--work", str(copied / "work_of_folder"))
    jackknife.main([str(folder), *arguments(copied, *more)[1:]])
    assert trained == ["1", "2"]
    shutil.copyfile(copied / "dev.conllu", folder / "more.conllu")
    with pytest.raises(SystemExit, match="other settings: train"):
        jackknife.main([str(folder), *arguments(copied, *more)[1:]])


def test_damaged_folds_are_found(copied: Path):
    shutil.copyfile(copied / "work/1/predicted.spacy", copied / "work/2/predicted.spacy")
    with pytest.raises(SystemExit, match=r"delete .*2"):
        jackknife.main(arguments(copied))


@given(st.integers(2, 6), st.integers(1, 7), st.integers(0, 60), st.integers(0, 3))
def test_folds_are_whole_blocks_and_share_nothing(n_folds: int, block: int, more: int, seed: int):
    n_docs = (n_folds - 1) * block + 1 + more
    folds = jackknife.deal(n_docs, n_folds=n_folds, block=block, seed=seed)
    assert sorted(i for fold in folds for i in fold) == list(range(n_docs))
    owner = {i: k for k, fold in enumerate(folds) for i in fold}
    assert all(owner[i] == owner[i // block * block] for i in range(n_docs))
    assert all(fold == sorted(fold) for fold in folds)
    sizes = [len({i // block for i in fold}) for fold in folds]
    assert max(sizes) - min(sizes) <= 1


def test_the_seed_deals_otherwise():
    assert (
        jackknife.deal(40, n_folds=4, block=2, seed=0)
        == jackknife.deal(40, n_folds=4, block=2, seed=0)
        != jackknife.deal(40, n_folds=4, block=2, seed=1)
    )


@pytest.mark.parametrize(("n_docs", "n_folds", "block"), [(9, 1, 1), (3, 4, 1), (9, 2, 0), (9, 2, 9)])
def test_too_few_docs_for_the_folds_are_an_error(n_docs: int, n_folds: int, block: int):
    with pytest.raises(SystemExit, match=f"{n_docs} Docs in blocks of {block} to {n_folds} folds"):
        jackknife.deal(n_docs, n_folds=n_folds, block=block, seed=0)
