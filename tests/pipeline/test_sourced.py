"""Components that go from one pipeline to another: with their encoder, with another one, or without any."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.language import Language
from thinc.api import Adam, Config, fix_random_seed

from ..parser.test_g2g_encoder import OURS, rich_examples, shared_nlp
from ..util import TINY_MODEL, mostly_slow, randomize, treebank_docs, treebank_examples

#: Listeners beside an embedding, as in ``configs/pipeline.cfg``.
BESIDE = {
    "@architectures": "spacy.Tagger.v2",
    "tok2vec": {
        "@layers": "concatenate.v1",
        "*": {
            "encoder": OURS,
            "shape": {
                "@architectures": "spacy.MultiHashEmbed.v2",
                "width": 8,
                "attrs": ["SHAPE"],
                "rows": [50],
                "include_static_vectors": False,
            },
        },
    },
}
LISTENING = ["g2g_parser", "rng_refiner", "tagger", "morphologizer", "ner"]
#: Width of the encoder of each pipeline that gets a component; 0 without any.
HOSTS = {"none": 0, "tok2vec": 16, "equal_tok2vec": 32, "g2g_encoder": 16, "equal_g2g_encoder": 32}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A pipeline whose components listen to its encoder, with random weights."""
    nlp = shared_nlp("tagger", "g2g_parser", "ner")
    nlp.add_pipe("morphologizer", config={"model": BESIDE})
    model = {"@architectures": "spacy_g2g.RNGTr.v1", "tok2vec": OURS, **TINY_MODEL}
    nlp.add_pipe("rng_refiner", config={"model": model})
    nlp.initialize(lambda: rich_examples(nlp))
    for name in ("g2g_parser", "rng_refiner"):
        randomize(nlp.get_pipe(name).model)  # type: ignore[attr-defined]
    for name in ("tagger", "morphologizer"):  # which start with zeros
        weights = nlp.get_pipe(name).model.get_ref("softmax").get_param("W")  # type: ignore[attr-defined]
        weights[:] = nlp.get_pipe("g2g_encoder").model.ops.xp.random.normal(size=weights.shape)  # type: ignore[attr-defined]
    path = tmp_path_factory.mktemp("home") / "nlp"
    nlp.to_disk(path)
    return path


def host(kind: str) -> Language:
    """A pipeline that gets a component."""
    width = HOSTS[kind]
    if kind.endswith("g2g_encoder"):
        nlp = shared_nlp("tagger")
        nlp.rename_pipe("tagger", "own")
        nlp.config["initialize"]["components"]["g2g_encoder"]["encoder"].update(width=width)
        fix_random_seed(1)  # other weights than those of the pipeline above
        nlp.initialize(lambda: treebank_examples(nlp))
        return nlp
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    if width:
        sizes = {"width": width, "depth": 1, "embed_size": 50, "window_size": 1, "maxout_pieces": 2}
        layers = {"@architectures": "spacy.HashEmbedCNN.v2", **sizes}
        model = {**layers, "subword_features": True, "pretrained_vectors": None}
        nlp.add_pipe("tok2vec", config={"model": model})
        nlp.initialize(lambda: treebank_examples(nlp))
    return nlp


def answers(nlp: Language, name: str) -> list[Any]:
    """What a pipeline makes of the ten sentences, as far as one of its components writes it."""
    others = {"ud": "rng_refiner", "tags": "tagger"}
    read = {
        "tagger": lambda token: token.tag_,
        "morphologizer": lambda token: token.pos_,
        "ner": lambda token: (token.ent_iob_, token.ent_type_),
    }.get(others.get(name, name), lambda token: (token.head.i, token.dep_))
    needed = [pipe for pipe in nlp.pipe_names if pipe in (name, "g2g_encoder", "tok2vec")]
    with nlp.select_pipes(enable=needed):
        return [[read(token) for token in doc] for doc in nlp.pipe(treebank_docs(nlp.vocab))]


def failure(nlp: Language) -> str:
    """The error of the first Doc."""
    with pytest.raises(ValueError, match="E834") as raised:
        nlp("She saw the cat.")
    return str(raised.value)


def run_line(error: str, call: str, nlp: Language, other: Language) -> None:
    """Run a line that an error shows."""
    line = re.search(rf"{re.escape(call)}\(.*?\)", error)
    assert line
    exec(line[0], {"nlp": nlp, "other": other})


def check_saved_alike(nlp: Language, name: str, expected: list[Any], path: Path) -> None:
    assert answers(nlp, name) == expected
    nlp.to_disk(path)
    assert answers(spacy.load(path), name) == expected


@pytest.mark.parametrize("kind", mostly_slow(HOSTS, ["none", "equal_g2g_encoder"]))
@pytest.mark.parametrize("name", mostly_slow(LISTENING, ["rng_refiner", "morphologizer"]))
def test_without_their_encoder_the_error_shows_the_line_that_copies_it(
    name: str, kind: str, folder: Path, tmp_path: Path
):
    home, nlp = spacy.load(folder), host(kind)
    expected = answers(home, name)
    nlp.add_pipe(name, source=home)
    if name in ("g2g_parser", "rng_refiner") or kind.endswith("g2g_encoder"):
        with pytest.raises(ValueError, match=f"E870.*{name}.*replace_listeners"):
            nlp.to_disk(tmp_path / "refused")
    error = failure(nlp)
    for call in ("nlp.remove_pipe", "other.replace_listeners", "nlp.add_pipe"):
        run_line(error, call, nlp, home)
    check_saved_alike(nlp, name, expected, tmp_path / "nlp")


@pytest.mark.parametrize("kind", mostly_slow(["none", "tok2vec", "equal_tok2vec"], ["equal_tok2vec"]))
@pytest.mark.parametrize("name", mostly_slow(LISTENING, ["g2g_parser", "tagger"]))
def test_without_an_encoder_the_error_shows_the_line_that_adds_theirs(
    name: str, kind: str, folder: Path, tmp_path: Path
):
    home, nlp = spacy.load(folder), host(kind)
    expected = answers(home, name)
    nlp.add_pipe(name, name="new", source=home)
    run_line(failure(nlp).partition(" or, ")[2], "nlp.add_pipe", nlp, home)
    nlp.rename_pipe("new", name)
    check_saved_alike(nlp, name, expected, tmp_path)


@pytest.mark.parametrize("name", mostly_slow(LISTENING, ["rng_refiner"]))
def test_with_their_encoder_or_a_copy_of_it_they_work(name: str, folder: Path, tmp_path: Path):
    home, nlp = spacy.load(folder), host("tok2vec")
    expected = answers(home, name)
    nlp.add_pipe("g2g_encoder", source=home)
    nlp.add_pipe(name, source=home)
    check_saved_alike(nlp, name, expected, tmp_path / "encoder")
    home, nlp = spacy.load(folder), host("equal_g2g_encoder")
    path = "model.tok2vec.*.encoder" if name == "morphologizer" else "model.tok2vec"
    home.replace_listeners("g2g_encoder", name, [path])
    nlp.add_pipe(name, source=home)
    check_saved_alike(nlp, name, expected, tmp_path / "copy")


def test_a_copy_that_comes_too_late_for_the_config_is_an_error(folder: Path, tmp_path: Path):
    home, nlp = spacy.load(folder), spacy.blank("en")
    expected = answers(home, "g2g_parser")
    nlp.add_pipe("g2g_parser", source=home)
    home.replace_listeners("g2g_encoder", "g2g_parser", ["model.tok2vec"])
    assert answers(nlp, "g2g_parser") == expected
    with pytest.raises(ValueError, match="E871") as raised:
        nlp.to_disk(tmp_path / "refused")
    for call in ("nlp.remove_pipe", "nlp.add_pipe"):
        run_line(str(raised.value), call, nlp, home)
    check_saved_alike(nlp, "g2g_parser", expected, tmp_path / "nlp")


def test_an_encoder_of_equal_weights_is_theirs(folder: Path):
    home, nlp = spacy.load(folder), spacy.load(folder)
    expected = answers(home, "g2g_parser")
    nlp.remove_pipe("g2g_parser")
    nlp.add_pipe("g2g_parser", source=home)
    assert answers(nlp, "g2g_parser") == expected


def test_an_encoder_behind_its_component_is_an_error(folder: Path, tmp_path: Path):
    home, nlp = spacy.load(folder), spacy.blank("en")
    for name in ("g2g_parser", "g2g_encoder"):
        nlp.add_pipe(name, source=home)
    assert "before that component" in failure(nlp)
    with pytest.raises(ValueError, match="E870"):
        nlp.to_disk(tmp_path)


def test_a_component_learns_with_another_encoder_and_is_then_its_own(folder: Path, tmp_path: Path):
    nlp = host("equal_g2g_encoder")
    nlp.add_pipe("g2g_parser", source=spacy.load(folder))
    failure(nlp)
    nlp.update(treebank_examples(nlp), sgd=Adam(0.001))
    check_saved_alike(nlp, "g2g_parser", answers(nlp, "g2g_parser"), tmp_path)


def test_sources_in_a_config_are_checked_alike(folder: Path, tmp_path: Path):
    other = host("equal_g2g_encoder")
    other.to_disk(tmp_path / "other")
    blocks = {"g2g_encoder": {"source": str(tmp_path / "other")}, "g2g_parser": {"source": str(folder)}}
    config = {"nlp": {"lang": "en", "pipeline": [*blocks]}, "components": blocks}
    nlp = spacy.blank("en").from_config(Config(config))
    assert "replace_listeners" in failure(nlp)
    blocks["g2g_parser"]["replace_listeners"] = ["model.tok2vec"]  # type: ignore[assignment]
    nlp = spacy.blank("en").from_config(Config(config))
    check_saved_alike(nlp, "g2g_parser", answers(spacy.load(folder), "g2g_parser"), tmp_path / "nlp")


@pytest.mark.parametrize("name", LISTENING)
def test_an_encoder_that_goes_is_missed_and_one_with_another_name_is_not(
    name: str, folder: Path, tmp_path: Path
):
    nlp = spacy.load(folder)
    expected = answers(nlp, name)
    nlp.rename_pipe("g2g_encoder", "encoder")
    nlp.rename_pipe("encoder", "g2g_encoder")
    nlp.disable_pipe("g2g_encoder")
    assert "and enabled" in failure(nlp)
    nlp.to_disk(tmp_path / "disabled")
    nlp = spacy.load(tmp_path / "disabled")
    nlp.enable_pipe("g2g_encoder")
    assert answers(nlp, name) == expected
    excluded = spacy.load(folder, exclude=["g2g_encoder"])
    nlp.remove_pipe("g2g_encoder")
    for pipeline in (nlp, excluded):
        failure(pipeline)
        with pytest.raises(ValueError, match=r"E870.*g2g_parser"):
            pipeline.to_disk(tmp_path / "refused")


def test_components_without_a_listener_go_anywhere(tmp_path: Path):
    home = spacy.blank("en")
    for name in ("g2g_layout", "mwt_splitter", "ud_enhancer"):
        home.add_pipe(name)
    home.initialize(lambda: treebank_examples(home))
    nlp = host("tok2vec")
    for name in home.pipe_names:
        nlp.add_pipe(name, source=home)
    nlp.to_disk(tmp_path)
    loaded = spacy.load(tmp_path)
    doc = next(iter(treebank_examples(loaded))).reference.copy()
    assert loaded(doc)._.g2g_enhanced == nlp(doc.copy())._.g2g_enhanced is not None
