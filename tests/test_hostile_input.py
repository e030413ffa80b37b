"""Random hostile input: a small form of what `--hypothesis-profile long` runs for hours.

python -m pytest tests/test_hostile_input.py --hypothesis-profile long --hypothesis-show-statistics
"""

import io
import pickle
import warnings
from pathlib import Path
from typing import Any

import pytest
import spacy
import srsly
import torch
from hypothesis import given
from hypothesis import strategies as st
from spacy.language import Language
from spacy.symbols import NORM, ORTH
from spacy.tokens import Doc
from spacy.training import Example
from thinc.api import fix_random_seed

from spacy_g2g.data.corpus import unparsed_copy
from spacy_g2g.data.docs import doc_to_sentences, sentences_to_docs
from spacy_g2g.data.multiword import mark_words, multiword_tokens, word_forms
from spacy_g2g.formats.conllu import read_conllu, write_conllu
from spacy_g2g.models.network_shim import find_shims
from spacy_g2g.models.saving import digest_of
from spacy_g2g.models.shim import get_shim

from .formats.samples import SAMPLE
from .util import TINY_MODEL, initialized_nlp, parser_of, set_encoder, treebank_examples

ODD = [*"\x00\u200d\u202e\ufeff😀 \n\u2028İ", "\x1b[31m", "👩\u200d👩", "a" * 600]
WORDS = st.one_of(st.sampled_from([*ODD, "she", "saw", "."]), st.text(min_size=1, max_size=5))
#: Forms of multiword tokens, some of which a tokenizer cuts.
MULTIWORD = ["al", "Al", "Vámonos", "vayanos", " vamanos"]
#: Words with the boundary before each: 1 for a start, -1 for none, 0 for unknown.
DOCS = st.lists(st.tuples(WORDS, st.sampled_from([1, -1, 0, None])), min_size=1, max_size=12)


@pytest.fixture(scope="module")
def nlp() -> Language:
    return initialized_nlp()


@pytest.fixture(scope="module")
def shared_nlp() -> Language:
    """A parser and a refiner that listen to one encoder, beside a tagger of spaCy."""
    nlp = make_shared()
    nlp.initialize(lambda: treebank_examples(nlp))
    return nlp


@pytest.fixture(scope="module")
def splitting_nlp() -> Language:
    """The same with a splitter of random weights before it, and enhanced graphs."""
    nlp = make_shared("mwt_splitter", "g2g_layout", "sentencizer")
    nlp.add_pipe("ud_enhancer")
    nlp.tokenizer.add_special_case("al", [{ORTH: "a"}, {ORTH: "l", NORM: "el"}])
    (first, *_) = sentences_to_docs(read_conllu(SAMPLE.splitlines(keepends=True)), nlp.vocab)
    nlp.initialize(lambda: [Example(unparsed_copy(first, []), first), *treebank_examples(nlp)])
    splitter: Any = nlp.get_pipe("mwt_splitter")
    torch.nn.init.normal_(next(find_shims(splitter.model)).network.scorer.weight)
    return nlp


def make_shared(*first: str) -> Language:
    fix_random_seed(0)
    nlp, listener = spacy.blank("xx"), {"@architectures": "spacy_g2g.EncoderListener.v1"}
    for name in first:
        nlp.add_pipe(name)
    nlp.add_pipe("g2g_encoder", config={"model": {"@architectures": "spacy_g2g.Encoder.v1"}})
    set_encoder(nlp, "g2g_encoder", min_frequency=1)
    nlp.add_pipe("tagger", config={"model": {"@architectures": "spacy.Tagger.v2", "tok2vec": listener}})
    for name, architecture in (("g2g_parser", "SynTr"), ("rng_refiner", "RNGTr")):
        model = {"@architectures": f"spacy_g2g.{architecture}.v1", "tok2vec": listener, **TINY_MODEL}
        nlp.add_pipe(name, config={"model": model})
    return nlp


def make_doc(nlp: Language, tokens: list[tuple[str, int | None]]) -> Doc:
    words = [word.encode("utf8", "replace").decode() for word, _ in tokens]
    return Doc(nlp.vocab, words=words, sent_starts=[start for _, start in tokens])


def annotation(doc: Doc) -> list[tuple[str, int, str]]:
    return [(token.text, token.head.i, token.dep_) for token in doc]


@pytest.mark.parametrize("pipeline", ["nlp", "shared_nlp"])
@given(docs=st.lists(DOCS, min_size=1, max_size=3))
def test_each_sentence_of_any_doc_gets_one_tree_whatever_is_parsed_with_it(pipeline: str, docs, request):
    nlp = request.getfixturevalue(pipeline)
    made = [make_doc(nlp, tokens) for tokens in docs]
    starts = [[i == 0 or token.is_sent_start is True for i, token in enumerate(doc)] for doc in made]
    texts = [doc.text for doc in made]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        alone = [annotation(nlp(doc.copy())) for doc in made]
        together = list(nlp.pipe(made))
    for doc, before, text, expected in zip(together, starts, texts, alone, strict=True):
        assert (doc.text, annotation(doc)) == (text, expected)
        assert [token.is_sent_start for token in doc] == before
        for sentence in doc.sents:
            roots = [token for token in sentence if token.head.i == token.i]
            assert len(roots) == 1
            assert set(roots[0].subtree) == set(sentence)


@given(parts=st.lists(st.one_of(st.sampled_from([*ODD, *MULTIWORD]), st.text(max_size=3)), max_size=12))
def test_any_text_comes_out_of_all_components_as_it_went_in(splitting_nlp: Language, parts):
    text = "".join(parts).encode("utf8", "replace").decode()
    doc = splitting_nlp(text)
    assert doc.text == text
    assert [text[token.idx : token.idx + len(token)] for token in doc] == [token.text for token in doc]
    assert all(token.text.strip() for start, end in multiword_tokens(doc) for token in doc[start:end])
    assert len(doc._.g2g_enhanced) == len(doc)


def test_the_splitter_of_the_fuzz_test_splits(splitting_nlp: Language):
    forms = [word_forms(splitting_nlp(form)) for form in MULTIWORD]
    assert ["a", "el"] in forms
    assert max(map(len, forms[2:])) > 1


@given(tokens=DOCS, firsts=st.sets(st.integers(0, 5)), forms=st.lists(WORDS, min_size=12, max_size=12))
def test_given_words_stay_through_all_components(splitting_nlp: Language, tokens, firsts, forms):
    doc = make_doc(splitting_nlp, tokens)
    ranges = [(2 * i, 2 * i + 2) for i in sorted(firsts) if 2 * i + 2 <= len(doc)]
    mark_words(doc, ranges, [form.encode("utf8", "replace").decode() for form in forms[: 2 * len(ranges)]])
    before = doc.text, word_forms(doc), multiword_tokens(doc)
    assert before[2] == ranges
    doc = splitting_nlp(doc)
    for kept in (doc, Doc(doc.vocab).from_bytes(doc.to_bytes())):
        assert (kept.text, word_forms(kept), multiword_tokens(kept)) == before


EDITS = st.lists(
    st.tuples(
        st.integers(0, len(SAMPLE)),
        st.integers(0, 5),
        st.one_of(
            st.sampled_from(["\t", "\n", "\r\n", "_", "|", "=", "1", "-", ".", "#", "9" * 5000, "\ufeff"]),
            st.text(max_size=3),
        ),
    ),
    min_size=1,
    max_size=4,
)


@given(edits=EDITS)
def test_damaged_conllu_is_an_error_with_a_code_or_comes_back_byte_for_byte(edits):
    text = SAMPLE
    for place, n_lost, added in edits:
        text = text[:place] + added + text[place + n_lost :]
    data = text.encode("utf8", "replace")
    vocab = spacy.blank("xx").vocab
    try:
        sentences = list(read_conllu(io.BytesIO(data), trees="any"))
        docs = list(sentences_to_docs(sentences, vocab, annotations=("SENT_START", "MORPH")))
        message = ""
    except ValueError as error:
        message = str(error)
    if message:
        assert "[G2G-E" in message
        return
    columns = [sentence for doc in docs for sentence in doc_to_sentences(doc, columns=())]
    for found in (sentences, columns):
        written = "".join(write_conllu(found)).encode()
        assert written.rstrip(b"\r\n") == data.rstrip(b"\r\n")


class Bomb:
    """Something that makes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


def with_weights(whole: bytes, weights: bytes) -> bytes:
    """The bytes of a model with other weights, as an attacker would write them."""
    msg = srsly.msgpack_loads(whole)
    digest = digest_of(msg["spec"], weights)
    data: bytes = srsly.msgpack_dumps({**msg, "weights": weights, "sha256": digest})
    return data


def test_no_code_of_a_file_runs(nlp: Language, tmp_path: Path):
    bomb = pickle.dumps(Bomb(tmp_path / "ran"))
    shim = get_shim(parser_of(nlp).model.copy())
    for data in (bomb, with_weights(shim.to_bytes(), bomb)):
        with pytest.raises(ValueError, match="E406"):
            shim.from_bytes(data)
    nlp.to_disk(tmp_path / "nlp")
    for file in ("model", "cfg"):
        path = tmp_path / "nlp" / "g2g_parser" / file
        whole = path.read_bytes()
        path.write_bytes(bomb)
        with pytest.raises(ValueError, match="E805"):
            spacy.load(tmp_path / "nlp")
        path.write_bytes(whole)
    spacy.load(tmp_path / "nlp")
    assert not (tmp_path / "ran").exists()
