"""Smaller vocabularies: which pieces stay, and what pipelines with them do."""

import json
from collections.abc import Callable
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import spacy
import torch
from spacy.training.loop import train
from tokenizers import Tokenizer, models, pre_tokenizers
from tokenizers.trainers import WordPieceTrainer

from spacy_g2g.layers.checkpoints.load import Checkpoint
from spacy_g2g.models.shim import get_shim
from spacy_g2g.models.sources import encoder_from_checkpoint
from spacy_g2g.models.types import Sentence
from spacy_g2g.models.vocabulary import PIECES, cut_vocabulary
from spacy_g2g.models.wordpieces import WordPieces

from ..layers.families import make_model, save
from ..parser.test_g2g_encoder import rich_examples, shared_nlp
from ..training.test_continue_training import save as save_docs
from ..training.test_continue_training import start as continue_from
from ..util import (
    gold_doc,
    make_nlp,
    plain_doc,
    sample_texts,
    start,
    tiny_encoder,
    tree_of,
    treebank_docs,
    treebank_examples,
)
from .test_tokenizer_kinds import BERT, EUROBERT, LLAMA, ROBERTA, byte_bpe, gemma, llama2, unigram, wordpiece

KINDS: dict[str, Callable[[], Tokenizer]] = {
    "WordPiece": wordpiece,
    "byte BPE": lambda: byte_bpe(ROBERTA),
    "Llama 3": lambda: byte_bpe(EUROBERT, pre_tokenizers.Split(LLAMA, "isolated")),
    "Gemma": gemma,
    "Llama 2": llama2,
    "Unigram": lambda: unigram(BERT, "always"),
    "Unigram, first": lambda: unigram(ROBERTA, "first"),
}
TEXTS = sample_texts(120)
TRAINING = " ".join(TEXTS[:10]).split()
OTHERS = " ".join(TEXTS[10:]).split()


def checkpoint_with(tokenizer: Tokenizer) -> Checkpoint:
    """A checkpoint whose vector of a piece is its id."""
    n = tokenizer.get_vocab_size() + 3
    rows = torch.arange(n, dtype=torch.float32)[:, None]
    config = tiny_encoder()(["x"]).config
    return Checkpoint(replace(config, vocab_size=n), {PIECES: rows}, tokenizer.to_str())


def vectors(checkpoint: Checkpoint, words: list[str]) -> list[list[float]]:
    """The vectors of the pieces of each word."""
    n = checkpoint.config.vocab_size
    (split,) = WordPieces(checkpoint.tokenizer, 64, n, None).split([Sentence(words)])
    return [[checkpoint.weights[PIECES][i].item() for i in ids] for ids in split]


@pytest.mark.parametrize("make", KINDS.values(), ids=KINDS)
def test_words_of_the_text_keep_their_pieces_and_others_have_known_ones(
    make: Callable[[], Tokenizer],
):
    full = checkpoint_with(make())
    cut = cut_vocabulary(full, TRAINING)
    assert cut.config.vocab_size == len(cut.weights[PIECES]) < 0.9 * full.config.vocab_size
    for form in (str, str.lower, str.title, str.upper):
        words = [*map(form, TRAINING)]
        assert vectors(cut, words) == vectors(full, words)
    pieces = WordPieces(cut.tokenizer, 64, cut.config.vocab_size, None)
    before = WordPieces(full.tokenizer, 64, full.config.vocab_size, None)
    for name in ("cls_id", "sep_id", "pad_id", "unk_id"):
        assert cut.weights[PIECES][getattr(pieces, name)] == getattr(before, name)
    assert pieces.unknown_words([Sentence(OTHERS)]) == before.unknown_words([Sentence(OTHERS)])
    assert vectors(cut, OTHERS) != vectors(full, OTHERS)


def greek_and_latin() -> Tokenizer:
    """WordPiece of words in two scripts, of digits and of an emoji."""
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    trainer = WordPieceTrainer(special_tokens=list(BERT), vocab_size=500, show_progress=False)
    tokenizer.train_from_iterator(["καλημέρα κόσμε καλά", "good morning good 12 🙂 !"] * 9, trainer)
    return tokenizer


def test_other_scripts_go_and_their_words_become_unknown(monkeypatch: pytest.MonkeyPatch):
    full = checkpoint_with(greek_and_latin())
    cut = cut_vocabulary(full, ["good"])
    unknown = WordPieces(cut.tokenizer, 64, cut.config.vocab_size, None).unknown_words
    assert unknown([Sentence(["καλά", "καλά", "dog", "2", "🙂", "!"])]) == {"καλά": 2}
    monkeypatch.setattr("spacy_g2g.models.vocabulary.MANY", 100)
    both = cut_vocabulary(full, ["good", "κόσμε"])
    vocabulary = json.loads(both.tokenizer)["model"]["vocab"]
    assert {"καλημέρα", "##ημέρα"} & set(vocabulary)
    assert not WordPieces(both.tokenizer, 64, both.config.vocab_size, None).unknown_words(
        [Sentence(["καλά"])]
    )


def test_a_few_letters_of_a_script_do_not_make_a_text_in_it():
    cut = cut_vocabulary(checkpoint_with(greek_and_latin()), ["good"] * 200 + ["κόσμε"])
    unknown = WordPieces(cut.tokenizer, 64, cut.config.vocab_size, None).unknown_words
    assert not unknown([Sentence(["κόσμε", "dog"])])
    assert unknown([Sentence(["καλά"])])


def test_a_tokenizer_of_another_kind_is_an_error():
    tokenizer = Tokenizer(models.WordLevel({"[UNK]": 0}, unk_token="[UNK]"))
    with pytest.raises(ValueError, match=r"E422.*'WordLevel'.*\"all\""):
        cut_vocabulary(checkpoint_with(tokenizer), ["x"])


def test_another_name_of_a_vocabulary_is_an_error():
    with pytest.raises(ValueError, match=r"E411.*vocabulary.*'small'.*'all', 'training'"):
        encoder_from_checkpoint("x", vocabulary="small")


# Pipelines


@pytest.fixture(autouse=True)
def no_whole_scripts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spacy_g2g.models.vocabulary.MANY", 0)


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random checkpoint with pieces for words in two scripts, and for those of the sample texts."""
    folder = tmp_path_factory.mktemp("checkpoint")
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = WordPieceTrainer(special_tokens=list(BERT), vocab_size=3000, show_progress=False)
    tokenizer.train_from_iterator([*TEXTS, *["καλημέρα κόσμε"] * 9], trainer)
    save(make_model("bert", vocab_size=tokenizer.get_vocab_size()), folder)
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


def trained(checkpoint: Path, **settings: Any) -> spacy.language.Language:
    """A parser that begins with a checkpoint."""
    nlp = make_nlp()
    callback = {"@callbacks": "spacy_g2g.EncoderFromCheckpoint.v1", "name": str(checkpoint), **settings}
    nlp.config["initialize"]["components"] = {"g2g_parser": {"encoder": callback}}
    nlp.initialize(lambda: treebank_examples(nlp))
    return nlp


def n_pieces(nlp: spacy.language.Language, name: str = "g2g_parser") -> int:
    return int(get_shim(nlp.get_pipe(name).model).known_spec.encoder.vocab_size)  # type: ignore[union-attr]


def test_a_pipeline_has_the_smaller_vocabulary_and_is_saved_with_it(checkpoint: Path, tmp_path: Path):
    full, cut = trained(checkpoint), trained(checkpoint, vocabulary="training")
    assert n_pieces(cut) < 0.8 * n_pieces(full)
    cut.to_disk(tmp_path / "cut")
    loaded = spacy.load(tmp_path / "cut")
    docs = [*treebank_docs(cut.vocab), plain_doc(cut.vocab, ["Unheard", "καλημέρα", "🙂", "\u200b", "ß"])]
    assert n_pieces(loaded) == n_pieces(cut)
    for doc in docs:
        assert tree_of(loaded(doc.copy())) == tree_of(cut(doc.copy()))


def test_a_refiner_takes_the_smaller_vocabulary_of_a_parser(checkpoint: Path, tmp_path: Path):
    parser = trained(checkpoint, vocabulary="training")
    parser.to_disk(tmp_path)
    nlp = make_nlp(factory="rng_refiner")
    callback = {"@callbacks": "spacy_g2g.EncoderFromPipeline.v1", "path": str(tmp_path)}
    nlp.config["initialize"]["components"] = {"rng_refiner": {"encoder": callback}}
    nlp.initialize(lambda: treebank_examples(nlp))
    assert n_pieces(nlp, "rng_refiner") == n_pieces(parser)


def test_pieces_of_a_word_list_are_kept(checkpoint: Path, tmp_path: Path):
    path = tmp_path / "words.txt"
    path.write_text("καλημέρα\nunheard", encoding="utf8")
    alone, more = (
        get_shim(trained(checkpoint, vocabulary="training", **words).get_pipe("g2g_parser").model).wordpieces
        for words in ({}, {"word_list": str(path)})
    )
    sentences = [Sentence(["καλημέρα"])]
    assert alone.unknown_words(sentences)
    assert not more.unknown_words(sentences)


def test_training_on_text_in_another_script_warns(checkpoint: Path):
    words = ["\u0434\u0430", "\u043d\u0435\u0442"] * 9 + ["the"]
    model = make_nlp().get_pipe("g2g_parser").model
    with pytest.warns(UserWarning, match=r"W402.* 95% of the words.*\u0434\u0430"):
        start(model, [Sentence(words)], encoder_from_checkpoint(str(checkpoint)))


def test_listeners_read_an_encoder_with_a_smaller_vocabulary(checkpoint: Path):
    nlp = shared_nlp("tagger", "g2g_parser")
    callback = {"@callbacks": "spacy_g2g.EncoderFromCheckpoint.v1", "name": str(checkpoint)}
    source = {"encoder": {**callback, "vocabulary": "training"}}
    nlp.config["initialize"]["components"] = {"g2g_encoder": source}
    examples = rich_examples(nlp)
    nlp.initialize(lambda: examples)
    nlp.update(examples, sgd=nlp.create_optimizer())
    copy = shared_nlp("tagger", "g2g_parser")
    copy.from_bytes(nlp.to_bytes())
    for doc in treebank_docs(nlp.vocab):
        assert tree_of(copy(doc.copy())) == tree_of(nlp(doc.copy()))


def test_a_pipeline_cut_to_one_text_goes_on_with_another(checkpoint: Path, tmp_path: Path, recwarn):
    base = trained(checkpoint, vocabulary="training")
    base.config["training"]["optimizer"]["learn_rate"] = 0.001
    base.to_disk(tmp_path / "base")
    sentence = [
        ("teachables", "NOUN", 2, "nsubj"),
        ("unread", "VERB", 0, "root"),
        ("seashores", "NOUN", 2, "obj"),
    ]
    other = save_docs(tmp_path / "other.spacy", gold_doc(spacy.blank("xx").vocab, [sentence] * 20))
    nlp = continue_from(tmp_path / "base", other, **{"training.max_steps": 2})
    train(nlp, stdout=StringIO(), stderr=StringIO())
    assert n_pieces(nlp) == n_pieces(base)
    assert not [one for one in recwarn if "W402" in str(one.message)]
    assert nlp(plain_doc(nlp.vocab, ["teachables", "unread"])).has_annotation("DEP")
