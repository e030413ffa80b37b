"""SynTr on the vectors of an encoder that other components share: ours, spaCy's tok2vec, or a transformer."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
import torch
from spacy.language import Language
from spacy.tokens import Doc
from thinc.api import Adam, Model, fix_random_seed

from spacy_g2g.data.segmentation import segment
from spacy_g2g.models.shim import get_shim
from spacy_g2g.models.sources import encoder_from_scratch, train_word_pieces
from spacy_g2g.models.start import checkpoint_of
from spacy_g2g.models.types import Arcs, Sentence, Start
from spacy_g2g.models.vector_batches import WordVectors
from spacy_g2g.pipeline.sentence_inputs import word_vectors

from ..models.test_sources import WORDS, make_checkpoint
from ..util import (
    CONTEXT,
    MIXED_WORDS,
    TINY_MODEL,
    mostly_slow,
    parser_of,
    plain_doc,
    set_encoder,
    taught,
    tree_of,
    treebank_docs,
    treebank_examples,
    trees_of,
)

TOK2VEC = {
    "@architectures": "spacy.HashEmbedCNN.v2",
    "pretrained_vectors": None,
    "width": 32,
    "depth": 1,
    "embed_size": 500,
    "window_size": 1,
    "maxout_pieces": 2,
    "subword_features": True,
}
LISTENERS: dict[str, dict[str, Any]] = {
    "g2g_encoder": {"@architectures": "spacy_g2g.EncoderListener.v1"},
    "tok2vec": {"@architectures": "spacy.Tok2VecListener.v1", "width": 32},
    "transformer": {
        "@architectures": "spacy-transformers.TransformerListener.v1",
        "grad_factor": 1.0,
        "pooling": {"@layers": "reduce_mean.v1"},
    },
    "curated_transformer": {
        "@architectures": "spacy-curated-transformers.LastTransformerLayerListener.v1",
        "width": 24,
        "pooling": {"@layers": "spacy_g2g.first_piece.v1"},
    },
}
CURATED = {
    "@architectures": "spacy-curated-transformers.BertTransformer.v1",
    "piece_encoder": {"@architectures": "spacy-curated-transformers.WordpieceEncoder.v1"},
    "with_spans": {
        "@architectures": "spacy-curated-transformers.WithStridedSpans.v1",
        "window": 20,
        "stride": 16,
    },
    "hidden_width": 24,
    "intermediate_width": 40,
    "max_position_embeddings": 40,
    "model_max_length": 40,
    "num_attention_heads": 4,
    "num_hidden_layers": 2,
}
#: A tok2vec sees few words, so the parser reads them with an LSTM.
SETTINGS: dict[str, dict[str, Any]] = {"tok2vec": {**CONTEXT, "distances": True}}


def transformer(folder: Path) -> dict[str, Any]:
    """The config of a tiny transformer."""
    return {
        "@architectures": "spacy-transformers.TransformerModel.v3",
        "name": str(make_checkpoint(folder)),
        "get_spans": {"@span_getters": "spacy-transformers.strided_spans.v1", "window": 20, "stride": 16},
    }


def curated_transformer(nlp: Language, folder: Path) -> dict[str, Any]:
    """The config of a tiny transformer of spacy-curated-transformers, with random weights."""
    tokenizer = train_word_pieces(WORDS, vocab_size=200, min_frequency=1, lowercase=False)
    pieces = sorted(tokenizer.get_vocab(), key=tokenizer.get_vocab().__getitem__)
    folder.mkdir(exist_ok=True)
    path = folder / "vocab.txt"
    path.write_text("\n".join(pieces) + "\n", encoding="utf8")
    loader = {"@model_loaders": "spacy-curated-transformers.WordpieceLoader.v1", "path": str(path)}
    nlp.config["initialize"]["components"] = {"curated_transformer": {"piecer_loader": loader}}
    return {**CURATED, "vocab_size": len(pieces)}


def shared_nlp(upstream: str, folder: Path, **settings: Any) -> Language:
    """A pipeline of an encoder, a tagger and a parser that listen to it."""
    fix_random_seed(0)
    nlp = spacy.blank("xx")
    if upstream == "g2g_encoder":
        model = {"@architectures": "spacy_g2g.Encoder.v1", **MIXED_WORDS}
        set_encoder(nlp, upstream, min_frequency=1)
    elif upstream == "curated_transformer":
        model = curated_transformer(nlp, folder)
    else:
        model = TOK2VEC if upstream == "tok2vec" else transformer(folder / "bert")
    nlp.add_pipe(upstream, config={"model": model})
    listener = LISTENERS[upstream]
    nlp.add_pipe("tagger", config={"model": {"@architectures": "spacy.Tagger.v2", "tok2vec": listener}})
    own = {"@architectures": "spacy_g2g.SynTr.v1", "tok2vec": listener, **TINY_MODEL}
    own |= {**SETTINGS.get(upstream, {}), **settings}
    nlp.add_pipe("g2g_parser", config={"model": own})
    return nlp


@pytest.fixture(scope="module", params=mostly_slow(LISTENERS, ["g2g_encoder", "tok2vec"]))
def upstream(request: pytest.FixtureRequest) -> str:
    if request.param == "curated_transformer":
        reason = "spacy-curated-transformers is not installed"
        pytest.importorskip("spacy_curated_transformers", reason=reason)
        if np.lib.NumpyVersion(np.__version__) >= "2.4.0":
            pytest.skip("spacy-curated-transformers 0.3.1 can't train with NumPy 2.4 (float of an array)")
    return request.param


@pytest.fixture(scope="module")
def trained(upstream: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A pipeline that has learned the ten sentences."""
    folder = tmp_path_factory.mktemp(upstream)
    taught(shared_nlp(upstream, folder)).to_disk(folder / "nlp")
    return folder / "nlp"


def sourced(source: Language, *names: str) -> Language:
    """A pipeline of some components of another one."""
    nlp = spacy.blank("xx")
    for name in names:
        nlp.add_pipe(name, source=source)
    return nlp


def test_it_learns_the_ten_sentences_and_is_the_same_after_loading(trained: Path):
    nlp = spacy.load(trained)
    scores = nlp.evaluate(treebank_examples(nlp))
    assert scores["ud_las"] == scores["tag_acc"] == 1.0


def test_trees_do_not_depend_on_the_batch(trained: Path):
    nlp = spacy.load(trained)
    docs = [doc for doc in treebank_docs(nlp.vocab) for _ in range(2)] + [Doc(nlp.vocab)]
    together = [tree_of(doc) for doc in nlp.pipe([doc.copy() for doc in docs], batch_size=50)]
    alone = [tree_of(nlp(doc.copy())) for doc in docs]
    assert together == alone


def test_with_its_listener_replaced_the_parser_works_alone(trained: Path, upstream: str, tmp_path: Path):
    nlp = spacy.load(trained)
    expected = trees_of(nlp)
    nlp.replace_listeners(upstream, "g2g_parser", ["model.tok2vec"])
    nlp.remove_pipe("tagger")
    nlp.remove_pipe(upstream)
    assert trees_of(nlp) == expected
    nlp.to_disk(tmp_path)
    assert trees_of(spacy.load(tmp_path)) == expected


def test_a_sourced_parser_brings_its_encoder(trained: Path, upstream: str):
    source = spacy.load(trained)
    expected = trees_of(source)
    source.replace_listeners(upstream, "g2g_parser", ["model.tok2vec"])
    nlp = sourced(source, "g2g_parser")
    assert nlp.pipe_names == ["g2g_parser"]
    assert trees_of(nlp) == expected


def test_sourced_with_its_encoder_it_parses_alike(trained: Path, upstream: str):
    source = spacy.load(trained)
    expected = trees_of(source)
    assert trees_of(sourced(source, upstream, "g2g_parser")) == expected


def test_a_frozen_parser_does_not_change_and_others_learn(trained: Path, upstream: str):
    nlp = spacy.load(trained)
    before = get_shim(parser_of(nlp).model).to_bytes()
    tagger = nlp.get_pipe("tagger").model.get_ref("softmax").get_param("W").copy()  # type: ignore[attr-defined]
    nlp.resume_training()
    examples = treebank_examples(nlp)
    nlp.update(examples, sgd=Adam(0.01), exclude=["g2g_parser"])
    assert get_shim(parser_of(nlp).model).to_bytes() == before
    after = nlp.get_pipe("tagger").model.get_ref("softmax").get_param("W")  # type: ignore[attr-defined]
    assert not np.array_equal(tagger, after)


def test_the_parser_teaches_the_encoder(trained: Path, upstream: str):
    nlp = sourced(spacy.load(trained), upstream, "g2g_parser")
    encoder: Any = nlp.get_pipe(upstream)
    before = encoder.model.to_bytes()
    # An encoder comes before its listeners: it makes the step of one update in the next.
    for _ in range(2):
        nlp.update(treebank_examples(nlp), sgd=Adam(0.01))
    assert encoder.model.to_bytes() != before


def test_on_top_of_a_frozen_encoder_the_parser_learns(trained: Path, upstream: str):
    nlp = spacy.load(trained)
    encoder: Any = nlp.get_pipe(upstream)
    before, parser = encoder.model.to_bytes(), get_shim(parser_of(nlp).model).to_bytes()
    frozen = [upstream]
    if upstream == "curated_transformer":  # which hands its vectors on only while it is updated itself
        encoder.frozen, frozen = True, []
    nlp.update(treebank_examples(nlp), sgd=Adam(0.01), exclude=[*frozen, "tagger"], annotates=frozen)
    assert encoder.model.to_bytes() == before
    assert get_shim(parser_of(nlp).model).to_bytes() != parser


def test_examples_without_anything_to_learn_leave_the_encoder_in_order(trained: Path, upstream: str):
    nlp = spacy.load(trained)
    layer: Any = parser_of(nlp).model.get_ref("tok2vec")
    forward, handed = layer._func, []

    def spy(*arguments: Any, **settings: Any) -> Any:
        outputs, backprop = forward(*arguments, **settings)
        return outputs, lambda gradients: (handed.append(len(gradients)), backprop(gradients))[1]

    layer._func = spy
    # Without heads; and without words, of which transformers make an error themselves.
    for text in ("a b c", "  ") if upstream == "tok2vec" else ("a b c",):
        docs = [plain_doc(nlp.vocab, [text]), Doc(nlp.vocab)]
        losses: dict[str, float] = {}
        nlp.update([spacy.training.Example(d.copy(), d) for d in docs], sgd=Adam(0.01), losses=losses)
        assert losses["g2g_parser"] == 0.0
        # It has handed on a gradient, of zeros: the encoder waits for all that listen to it.
        assert handed == [len(docs)]
        handed.clear()
    nlp.update(treebank_examples(nlp), sgd=Adam(0.001), losses=losses)
    assert losses["g2g_parser"] > 0.0


def test_a_layer_without_a_vector_for_each_token_is_an_error():
    nlp = spacy.blank("xx")
    docs = [plain_doc(nlp.vocab, "a b c")]
    layer = Model("short", lambda model, docs, is_train: ([np.zeros((2, 1), dtype="f")], None))
    with pytest.raises(ValueError, match=r"E809.*short.*2 vectors for 3"):
        word_vectors(layer, docs, segment(docs))


def test_white_space_and_empty_docs_are_parsed(trained: Path):
    nlp = spacy.load(trained)
    docs = [nlp.make_doc(text) for text in ("", "  ", "she saw  the\n cat .", "\n", "dogs bark")]
    for doc in docs:
        if len(doc):
            doc[0].is_sent_start = True
            for token in doc[1:]:
                token.is_sent_start = False
    parsed = list(nlp.pipe(docs))
    assert [sum(token.head == token for token in doc) for doc in parsed] == [0, 1, 1, 1, 1]


# Settings


def test_an_origin_of_weights_beside_a_shared_encoder_is_an_error(tmp_path: Path):
    nlp = shared_nlp("tok2vec", tmp_path)
    parser = parser_of(nlp)
    with pytest.raises(ValueError, match=r"E420.*tok2vec"):
        parser.initialize(lambda: treebank_examples(nlp), encoder=encoder_from_scratch())


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        ({"tag_attr": "POS"}, "E414.*POS"),
        ({"n_mixed_layers": 2}, "E418.*2"),
        ({"pooling": "mean"}, "E418.*mean"),
    ],
)
def test_tags_layers_and_pieces_beside_a_shared_encoder_are_an_error(
    tmp_path: Path, settings: dict[str, Any], error: str
):
    with pytest.raises(ValueError, match=error):
        shared_nlp("tok2vec", tmp_path, **settings)


def test_a_shared_encoder_can_not_be_copied_into_a_refiner(trained: Path):
    model = parser_of(spacy.load(trained)).model
    with pytest.raises(ValueError, match="E415"):
        checkpoint_of(get_shim(model))
    with pytest.raises(ValueError, match="E415"):
        model.initialize(X=[], Y=Start(labels=("root", "dep")))


# Parts


def vector_sentences(*lengths: int) -> list[Sentence]:
    rng = np.random.default_rng(0)
    return [Sentence(["x"] * n, vectors=rng.normal(size=(n, 4)).astype("f")) for n in lengths]


@pytest.mark.parametrize("max_padded", [1, 6, 12, 1000])
def test_each_word_of_each_batch_is_its_vector(max_padded: int):
    sentences = vector_sentences(2, 5, 1, 3, 5)
    seen = []
    for members, batch in WordVectors(sentences, torch.device("cpu")).batches(sentences, max_padded):
        seen += members
        assert len(members) == 1 or batch.vectors[..., 0].numel() + len(members) <= max_padded
        for i, member in enumerate(members):
            n = len(sentences[member].words)
            assert batch.n_words[i] == n
            np.testing.assert_array_equal(batch.vectors[i, :n].detach(), sentences[member].vectors)
    assert sorted(seen) == list(range(5))


def test_gradients_are_those_of_numbers(tmp_path: Path):
    nlp = shared_nlp("tok2vec", tmp_path)
    nlp.initialize(lambda: treebank_examples(nlp))
    shim = get_shim(parser_of(nlp).model)
    rng = np.random.default_rng(0)
    sentences = [Sentence(["x"] * n, vectors=rng.normal(size=(n, 32)).astype("f")) for n in (3, 2)]
    gold = [Arcs(np.array([2, 0, 2]), np.array([1, 0, 2])), Arcs(np.array([0, 1]), np.array([0, 1]))]
    _, backprop = shim.begin_update((sentences, gold))
    gradients = backprop(None)

    def loss(step: float) -> float:
        moved = [Sentence(s.words, vectors=s.vectors.copy()) for s in sentences]
        moved[0].vectors[1, 7] += step
        return shim.begin_update((moved, gold))[0]

    expected = (loss(1e-2) - loss(-1e-2)) / 2e-2
    assert gradients[0][1, 7] == pytest.approx(expected, rel=2e-2, abs=1e-3)
    assert [gradient.shape for gradient in gradients] == [(3, 32), (2, 32)]


def test_vectors_of_words_come_from_their_tokens_and_their_gradients_go_back():
    nlp = spacy.blank("xx")
    docs = [plain_doc(nlp.vocab, ["a", " ", "b"], ["c"]), Doc(nlp.vocab), plain_doc(nlp.vocab, ["d", "e"])]
    seen: list[Any] = []

    def forward(model: Any, docs: list[Doc], is_train: bool) -> tuple[list[Any], Callable[[Any], list[Doc]]]:
        outputs = [np.array([[ord(t.text)] for t in doc], dtype="f").reshape(-1, 1) for doc in docs]
        return outputs, lambda d_outputs: seen.append(d_outputs) or docs

    vectors, backprop = word_vectors(Model("tokens", forward), docs, segment(docs), is_train=True)
    assert [of_words.tolist() for of_words in vectors] == [[[97], [98]], [[99]], [[100], [101]]]
    of_words = {0: np.array([[1], [2]], dtype="f"), 2: np.array([[3], [4]], dtype="f")}
    backprop(of_words)
    assert [d.ravel().tolist() for d in seen[0]] == [[1, 0, 2, 0], [], [3, 4]]


def test_words_without_gradients_have_zeros():
    sentences = vector_sentences(2, 1)
    parts = WordVectors(sentences, torch.device("cpu")).gradients()
    assert [part.tolist() for part in parts] == [[[0.0] * 4] * 2, [[0.0] * 4]]
