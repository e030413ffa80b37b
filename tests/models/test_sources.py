"""Where encoders come from, and that a saved pipeline needs none of it."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import spacy
import torch

from spacy_g2g.layers.checkpoints.load import Checkpoint
from spacy_g2g.models.optimizer import make_adamw
from spacy_g2g.models.shim import G2GShim, get_shim
from spacy_g2g.models.sources import (
    encoder_from_checkpoint,
    encoder_from_pipeline,
    encoder_from_scratch,
    train_word_pieces,
)
from spacy_g2g.models.wordpieces import load_tokenizer

from ..layers.families import make_model, save
from ..util import (
    ALL_LEVERS,
    initialized_nlp,
    make_nlp,
    read_treebank,
    tree_of,
    treebank_docs,
    treebank_examples,
)

ROOT = Path(__file__).parents[2]
WORDS = [word[0] for sentence in read_treebank() for word in sentence]


def make_checkpoint(folder: Path, family: str = "bert") -> Path:
    """A random checkpoint of 3 layers of width 24, with pieces for the words of the ten sentences."""
    tokenizer = train_word_pieces(WORDS, vocab_size=200, min_frequency=1, lowercase=True)
    save(make_model(family, vocab_size=tokenizer.get_vocab_size()), folder)
    (folder / "tokenizer.json").write_text(tokenizer.to_str(), encoding="utf8")
    return folder


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_checkpoint(tmp_path_factory.mktemp("checkpoint"))


# Sizes


@pytest.mark.parametrize(
    ("sizes", "error"),
    [
        ({"width": 30, "n_attention_heads": 4}, "E403"),
        ({"n_layers": 0}, "E403"),
        ({"hidden_width": 0}, "E403"),
        ({"n_positions": 7}, r"E404.* 7"),
    ],
    ids=str,
)
def test_sizes_of_no_encoder_are_an_error(sizes: dict[str, int], error: str):
    with pytest.raises(ValueError, match=error):
        encoder_from_scratch(**sizes)


# From scratch


def test_from_scratch_has_the_sizes_given_and_no_weights():
    sizes = {"width": 32, "n_layers": 2, "n_attention_heads": 2, "hidden_width": 64, "n_positions": 63}
    found = encoder_from_scratch(**sizes, vocab_size=100, min_frequency=1)(WORDS)
    config = found.config
    assert config.vocab_size <= 100
    assert (config.width, config.n_layers, config.n_attention_heads) == (32, 2, 2)
    assert (config.embedding_width, config.hidden_width, config.n_positions) == (32, 64, 63)
    assert found.weights == {}


def test_the_vocabulary_covers_the_training_words():
    tokenizer = train_word_pieces(WORDS, vocab_size=500, min_frequency=1, lowercase=False)
    unknown = tokenizer.token_to_id("[UNK]")
    assert all(unknown not in tokenizer.encode(word).ids for word in WORDS)
    assert tokenizer.encode("hearing").tokens == ["hearing"]


def test_the_vocabulary_keeps_to_its_size_and_special_pieces_come_first():
    tokenizer = train_word_pieces(WORDS, vocab_size=40, min_frequency=1, lowercase=False)
    assert tokenizer.get_vocab_size() <= 40
    assert [tokenizer.id_to_token(i) for i in range(4)] == ["[CLS]", "[SEP]", "[PAD]", "[UNK]"]


@pytest.mark.parametrize("lowercase", [True, False])
def test_lower_case_is_as_wanted_and_accents_are_kept(lowercase: bool):
    tokenizer = train_word_pieces(["Été", "été"] * 5, vocab_size=100, min_frequency=1, lowercase=lowercase)
    assert (tokenizer.encode("ÉTÉ").tokens == ["été"]) == lowercase
    assert tokenizer.encode("été").tokens == ["été"]
    assert tokenizer.encode("ete").tokens != ["été"]


def test_one_spelling_of_an_accent_is_as_good_as_the_other():
    tokenizer = train_word_pieces(["caf\u00e9"] * 5, vocab_size=100, min_frequency=1, lowercase=False)
    assert tokenizer.encode("cafe\u0301").ids == tokenizer.encode("caf\u00e9").ids


def test_no_words_make_a_vocabulary_of_special_pieces():
    assert train_word_pieces([], vocab_size=100, min_frequency=1, lowercase=False).get_vocab_size() == 4


@pytest.mark.slow
def test_pieces_are_the_same_in_every_process_and_for_every_order_of_words():
    code = """if True:
        import hashlib, itertools, random, sys
        from spacy_g2g.models.sources import train_word_pieces
        words = ["".join(letters) for letters in itertools.product("abcde", repeat=4)] * 3
        random.Random(int(sys.argv[1])).shuffle(words)
        pieces = train_word_pieces(words, vocab_size=300, min_frequency=2, lowercase=False)
        print(hashlib.sha256(pieces.to_str().encode()).hexdigest())
    """
    found = set()
    for seed in ("1", "2"):
        env = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-c", code, seed]
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
        found.add(done.stdout)
    assert len(found) == 1


def test_the_same_seed_gives_the_same_start():
    parses = []
    for _ in range(2):
        nlp = make_nlp()
        nlp.initialize(lambda nlp=nlp: treebank_examples(nlp))
        weights = get_shim(nlp.get_pipe("g2g_parser").model).network.state_dict()
        parses.append(torch.cat([weight.flatten() for weight in weights.values()]))
    assert torch.equal(*parses)


def test_a_parser_without_any_config_starts_from_scratch_offline(no_network: Callable[[], None]):
    no_network()
    nlp = spacy.blank("xx")
    nlp.add_pipe("g2g_parser")
    nlp.initialize(lambda: treebank_examples(nlp))
    (doc,) = treebank_docs(nlp.vocab)[:1]
    assert nlp(doc).has_annotation("DEP", require_complete=True)


# From a checkpoint


def test_a_checkpoint_brings_sizes_weights_and_pieces_and_root_comes_after_them(checkpoint: Path):
    nlp = make_nlp()
    source = encoder_from_checkpoint(str(checkpoint))
    parser = nlp.get_pipe("g2g_parser")
    parser.initialize(lambda: treebank_examples(nlp), nlp=nlp, encoder=source)
    shim = get_shim(parser.model)
    assert (shim.known_spec.encoder.width, shim.known_spec.encoder.n_layers) == (24, 3)
    assert shim.known_spec.tokenizer == (checkpoint / "tokenizer.json").read_text(encoding="utf8")
    expected = source([]).weights
    found = shim.network.encoder.state_dict()
    assert set(expected) == set(found)
    for name, weight in expected.items():
        assert torch.equal(found[name][: len(weight)], weight)
    n_pieces = json.loads((checkpoint / "config.json").read_text())["vocab_size"]
    assert shim.wordpieces.root_id == n_pieces
    assert shim.network.encoder.embeddings.pieces.num_embeddings == n_pieces + 1


def test_a_name_that_is_nowhere_is_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(FileNotFoundError, match=r"E206.*no-such-model"):
        encoder_from_checkpoint("no-such-model")([])


def test_a_saved_pipeline_needs_neither_checkpoint_nor_network(
    tmp_path: Path, no_network: Callable[[], None]
):
    folder = make_checkpoint(tmp_path / "bert")
    nlp = make_nlp()
    callback = {"@callbacks": "spacy_g2g.EncoderFromCheckpoint.v1", "name": str(folder), "n_layers": 2}
    nlp.config["initialize"]["components"] = {"g2g_parser": {"encoder": callback}}
    nlp.initialize(lambda: treebank_examples(nlp))
    expected = [tree_of(nlp(doc)) for doc in treebank_docs(nlp.vocab)]
    nlp.to_disk(tmp_path / "pipeline")
    shutil.rmtree(folder)
    no_network()
    loaded = spacy.load(tmp_path / "pipeline")
    assert get_shim(loaded.get_pipe("g2g_parser").model).spec.encoder.n_layers == 2  # type: ignore[union-attr]
    assert [tree_of(loaded(doc)) for doc in treebank_docs(loaded.vocab)] == expected


# From a pipeline


def from_pipeline(path: Path, **settings: str) -> Checkpoint:
    return encoder_from_pipeline(str(path), **settings)([])


def test_a_refiner_begins_with_the_encoder_of_a_parser(trained_folder: Path):
    parser = get_shim(spacy.load(trained_folder).get_pipe("g2g_parser").model)
    nlp = make_nlp(factory="rng_refiner", width=24)
    callback = {"@callbacks": "spacy_g2g.EncoderFromPipeline.v1", "path": str(trained_folder)}
    nlp.config["initialize"]["components"] = {"rng_refiner": {"encoder": callback}}
    nlp.initialize(lambda: treebank_examples(nlp))
    refiner = get_shim(nlp.get_pipe("rng_refiner").model)
    assert refiner.known_spec.pretrained == ("encoder", "task")
    assert refiner.known_spec.encoder == parser.known_spec.encoder
    assert refiner.known_spec.tokenizer == parser.known_spec.tokenizer
    found = refiner.network.encoder.state_dict()
    expected = parser.network.encoder.state_dict()
    # All weights, the row of ROOT among the pieces.
    assert len(expected["embeddings.pieces.weight"]) == refiner.wordpieces.root_id + 1
    for name, weight in expected.items():
        assert torch.equal(found[name], weight), name
    assert all(".relation_" in name for name in set(found) - set(expected))


def refiner_on(
    trained_folder: Path, labels: list[str] | None = None, scorers: bool = True, **settings: Any
) -> G2GShim:
    """A refiner that begins with the encoder of a parser."""
    nlp = make_nlp(factory="rng_refiner", **settings)
    refiner = nlp.get_pipe("rng_refiner")
    source = encoder_from_pipeline(str(trained_folder), scorers=scorers)
    refiner.initialize(lambda: treebank_examples(nlp), nlp=nlp, labels=labels, encoder=source)
    return get_shim(refiner.model)


def rate_factors(shim: G2GShim) -> dict[str, float]:
    """The learning rate of each parameter, as a multiple of the optimizer's."""
    names = {id(parameter): name for name, parameter in shim.network.named_parameters()}
    adamw = make_adamw(
        shim.network, shim.known_spec.pretrained, pretrained_factor=shim.encoder_rate_factor, rate_factor=1.0
    )
    return {names[id(p)]: group["rate_factor"] for group in adamw.param_groups for p in group["params"]}


def test_a_refiner_takes_the_scorers_of_a_parser_and_trains_them_at_the_encoders_rate(trained_folder: Path):
    parser = get_shim(spacy.load(trained_folder).get_pipe("g2g_parser").model)
    refiner = refiner_on(trained_folder)
    found, expected = refiner.network.state_dict(), parser.network.state_dict()
    assert all(torch.equal(found[name], weight) for name, weight in expected.items())
    factors = rate_factors(refiner)
    assert {name for name, factor in factors.items() if factor == 1.0} == set(found) - set(expected)
    assert {factors[name] for name in expected} == {0.3}


def test_scorers_can_be_left_and_those_for_other_labels_are(trained_folder: Path):
    pipe: Any = spacy.load(trained_folder).get_pipe("g2g_parser")
    labels = [pipe.labels[0], *reversed(pipe.labels[1:])]
    without = refiner_on(trained_folder, scorers=False)
    with pytest.warns(UserWarning, match="W401"):
        other = refiner_on(trained_folder, labels=labels)
    name = "scorer.project.weight"
    weight = get_shim(pipe.model).network.state_dict()[name]
    for refiner in (without, other):
        assert not torch.equal(refiner.network.state_dict()[name], weight)
        assert rate_factors(refiner)[name] == 1.0


def test_scorers_of_other_words_or_arcs_are_left_with_a_warning(tmp_path: Path):
    nlp = initialized_nlp(**ALL_LEVERS)
    nlp.to_disk(tmp_path)
    assert refiner_on(tmp_path, **ALL_LEVERS).known_spec.pretrained == ("encoder", "task")
    for other in ({"n_mixed_layers": 1}, {"pooling": "first"}, {"distances": False}, {"n_context_layers": 0}):
        with pytest.warns(UserWarning, match="W401"):
            refiner = refiner_on(tmp_path, **{**ALL_LEVERS, **other})
        assert refiner.known_spec.pretrained == ("encoder",)


def test_a_parser_begins_with_the_encoder_of_a_refiner(trained_refiner_folder: Path):
    refiner = get_shim(spacy.load(trained_refiner_folder).get_pipe("rng_refiner").model)
    nlp = make_nlp()
    parser = nlp.get_pipe("g2g_parser")
    source = encoder_from_pipeline(str(trained_refiner_folder), component="rng_refiner")
    parser.initialize(lambda: treebank_examples(nlp), nlp=nlp, encoder=source)
    expected = refiner.network.encoder.state_dict()
    found = get_shim(parser.model).network.encoder.state_dict()
    assert set(found) == {name for name in expected if ".relation_" not in name}
    assert all(torch.equal(weight, expected[name]) for name, weight in found.items())


def test_the_encoder_of_a_parser_is_not_shared(trained_folder: Path):
    first, second = (from_pipeline(trained_folder).weights for _ in range(2))
    for weight in first.values():
        weight.zero_()
    assert any(weight.any() for weight in second.values())


def test_a_component_without_a_parsers_model_is_an_error_that_names_it(tmp_path: Path):
    nlp = spacy.blank("xx")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("tagger").add_label("X")
    nlp.initialize()
    nlp.to_disk(tmp_path)
    for name in ("no-such-component", *nlp.pipe_names):
        with pytest.raises(ValueError, match=rf"E413.*{name!r}.*\['sentencizer', 'tagger'\]") as caught:
            from_pipeline(tmp_path, component=name)
        assert str(tmp_path) in str(caught.value)


@pytest.mark.parametrize(
    ("setting", "pairs"),
    [
        (
            "straight_quotes",
            {"\u2019s": "'s", "\u201cno\u201d": '"no"', "\u201eno\u201c": '"no"', "``": '"', "''": '"'},
        ),
        ("same_digits", {"1990": "2048", "7:45": "3:00", "1st": "3st", "\u0663": "5", "$10.5": "$99.1"}),
    ],
)
def test_characters_that_do_not_matter_are_read_alike(checkpoint: Path, setting: str, pairs: dict[str, str]):
    def read(word: str, **settings: bool) -> str:
        source = encoder_from_checkpoint(str(checkpoint), **settings)
        text: str = load_tokenizer(source([]).tokenizer).normalizer.normalize_str(word)
        return text

    for word, other in pairs.items():
        assert read(word, **{setting: True}) == read(other, **{setting: True})
        assert read(word) != read(other)
    assert read("cat", **{setting: True}) == read("cat")
