"""Sources of encoders: callbacks of ``[initialize.components.NAME.encoder]`` that give the start of training.

A saved pipeline holds sizes, weights and tokenizer, so loading it does not call these functions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from itertools import chain, repeat
from pathlib import Path
from typing import Any

import spacy
from thinc.api import Model
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, trainers

from ..errors import Errors
from ..layers.checkpoints.bert import BERT_PIECES
from ..layers.checkpoints.load import Checkpoint, load_checkpoint, resolve_checkpoint
from ..layers.encoder_config import EncoderConfig
from .network_shim import find_shims, find_upstream
from .start import checkpoint_of
from .vocabulary import cut_vocabulary

#: Function from the words of the training data to the checkpoint to start from. Without weights, the
#: checkpoint stands for random initialization.
EncoderSource = Callable[[Iterable[str]], Checkpoint]
#: Which pieces of a checkpoint to keep.
VOCABULARIES = ("all", "training")
#: Straight marks by the pattern of the marks that become one.
STRAIGHT_QUOTES = {"[\u201c-\u201f]|``|''": '"', "[\u2018-\u201b]": "'"}
#: The digit that all digits of all scripts become.
SAME_DIGITS = {r"\p{Nd}": "2"}


def encoder_from_checkpoint(
    name: str,
    n_layers: int | None = None,
    revision: str | None = None,
    *,
    straight_quotes: bool = False,
    same_digits: bool = False,
    vocabulary: str = "all",
    word_list: str | None = None,
) -> EncoderSource:
    """Return a source that loads the encoder of a pre-trained checkpoint.

    Registered as ``spacy_g2g.EncoderFromCheckpoint.v1``.

    name: Folder with ``config.json``, ``model.safetensors`` and ``tokenizer.json`` (or ``spm.model``), or
        name on the Hugging Face hub.
    n_layers: Number of layers to keep, from the first; null keeps all.
    revision: Branch, tag or commit of the repository on the hub; null for the main branch.
    straight_quotes: Read curly quotation marks and apostrophes as straight ones, so that a tree does not
        depend on them.
    same_digits: Read each digit as the same one, so that a tree does not depend on them. The encoder then
        knows only how many digits a number has.
    vocabulary: Pieces to keep: "all", or those for the training text ("training"), which makes a pipeline
        small. Words of the text have the same pieces with both. Others may have shorter pieces, and words in
        other scripts an unknown one.
    word_list: Text file in UTF-8 with further words for "training", between white space; null for none.
    Raises ValueError for another vocabulary, and when called, for pieces of an unknown kind.
    """
    if vocabulary not in VOCABULARIES:
        found = {"setting": "vocabulary", "value": vocabulary, "choices": VOCABULARIES}
        raise ValueError(Errors.E411.format(**found))
    changes = {**(STRAIGHT_QUOTES if straight_quotes else {}), **(SAME_DIGITS if same_digits else {})}

    def source(words: Iterable[str]) -> Checkpoint:
        checkpoint = load_checkpoint(resolve_checkpoint(name, revision), n_layers)
        checkpoint = replace(checkpoint, tokenizer=_changing(checkpoint.tokenizer, changes))
        if vocabulary == "training":
            more = Path(word_list).read_text(encoding="utf8").split() if word_list else ()
            checkpoint = cut_vocabulary(checkpoint, chain(words, more))
        return checkpoint

    return source


def encoder_from_pipeline(path: str, *, component: str = "g2g_parser", scorers: bool = True) -> EncoderSource:
    """Return a source that copies the encoder of a trained parser, or the one that it listens to.

    Registered as ``spacy_g2g.EncoderFromPipeline.v1``. A parser that listens to an encoder takes only the
    scorers.

    path: Folder or name of the pipeline.
    component: Name of the parser in the pipeline.
    scorers: Whether to copy the scorers as well. They fit only a parser with the same labels and sizes.
    Raises ValueError, when called, for a component that is not a parser of this package.
    """

    def source(words: Iterable[str]) -> Checkpoint:  # noqa: ARG001
        nlp = spacy.load(path)
        pipe: Any = nlp.get_pipe(component) if component in nlp.pipe_names else None
        model = getattr(pipe, "model", None)
        shim = next(find_shims(model), None) if isinstance(model, Model) else None
        if shim is None or model is None:
            raise ValueError(Errors.E413.format(path=path, component=component, names=nlp.pipe_names))
        checkpoint = checkpoint_of(shim, find_upstream(model))
        if scorers:
            return replace(checkpoint, labels=tuple(pipe.labels))
        return replace(checkpoint, task_weights={})

    return source


def encoder_from_scratch(
    *,
    width: int = 256,
    n_layers: int = 4,
    n_attention_heads: int = 4,
    hidden_width: int = 1024,
    n_positions: int = 512,
    vocab_size: int = 8000,
    min_frequency: int = 2,
    lowercase: bool = False,
) -> EncoderSource:
    """Return a source of an encoder with random weights, whose pieces are learned from the training words.

    Registered as ``spacy_g2g.EncoderFromScratch.v1``.

    width: Width of the vectors, a multiple of n_attention_heads.
    n_layers: Number of Transformer layers.
    n_attention_heads: Number of attention heads in each layer.
    hidden_width: Hidden width of the feed-forward networks.
    n_positions: Maximum number of pieces that the encoder reads at once, including [CLS], ROOT and [SEP].
    vocab_size: Maximum number of WordPiece pieces.
    min_frequency: Minimum frequency of two neighboring pieces that are merged into a new piece.
    lowercase: Convert words to lower case. Accents stay.
    Raises ValueError for invalid sizes.
    """
    config = EncoderConfig(
        vocab_size=0,
        width=width,
        embedding_width=width,
        n_layers=n_layers,
        n_attention_heads=n_attention_heads,
        hidden_width=hidden_width,
        n_positions=n_positions,
        n_segments=0,
    )

    def source(words: Iterable[str]) -> Checkpoint:
        tokenizer = train_word_pieces(
            words, vocab_size=vocab_size, min_frequency=min_frequency, lowercase=lowercase
        )
        return Checkpoint(
            config=replace(config, vocab_size=tokenizer.get_vocab_size()),
            weights={},
            tokenizer=tokenizer.to_str(),
        )

    return source


def train_word_pieces(
    words: Iterable[str], *, vocab_size: int, min_frequency: int, lowercase: bool
) -> Tokenizer:
    """Train a WordPiece tokenizer on words. The same words give the same pieces in every run."""
    special = list(BERT_PIECES)
    normalizer = normalizers.Sequence(
        [normalizers.NFC(), normalizers.BertNormalizer(lowercase=lowercase, strip_accents=False)]
    )
    pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    counts: Counter[str] = Counter()
    for word in words:
        parts = pre_tokenizer.pre_tokenize_str(normalizer.normalize_str(word))
        counts.update(part for part, _ in parts)
    alphabet: Counter[str] = Counter()
    for word, count in counts.items():
        for piece in _letters(word):
            alphabet[piece] += count
    # The trainer makes a piece of each letter, whatever the size. So it never sees words with rare letters.
    ranked = sorted(alphabet, key=lambda piece: (-alphabet[piece], piece))
    letters = ranked[: (vocab_size - len(special)) // 2]
    frequent = set(letters)
    words = [word for word in sorted(counts) if frequent.issuperset(_letters(word))]
    # The trainer gives ids in the order of a hash table, which breaks ties between merges differently in
    # every run. Special tokens have fixed ids.
    trainer = trainers.WordPieceTrainer(
        vocab_size=vocab_size,
        min_frequency=min_frequency,
        special_tokens=special + letters,
        show_progress=False,
    )
    trained = Tokenizer(models.WordPiece(unk_token=special[-1]))
    trained.pre_tokenizer = pre_tokenizer
    trained.train_from_iterator(chain.from_iterable(repeat(word, counts[word]) for word in words), trainer)
    tokenizer = Tokenizer(models.WordPiece(trained.get_vocab(), unk_token=special[-1]))
    tokenizer.normalizer, tokenizer.pre_tokenizer = normalizer, pre_tokenizer
    tokenizer.add_special_tokens(special)
    return tokenizer


def _changing(text: str, changes: Mapping[str, str]) -> str:
    """Let a tokenizer change characters first.

    text: That of tokenizer.json.
    changes: What each pattern becomes.
    """
    if not changes:
        return text
    tokenizer = Tokenizer.from_str(text)
    steps = [normalizers.Replace(Regex(pattern), new) for pattern, new in changes.items()]
    tokenizer.normalizer = normalizers.Sequence([*steps, *filter(None, [tokenizer.normalizer])])
    changed: str = tokenizer.to_str()
    return changed


def _letters(word: str) -> list[str]:
    """Split a word into pieces of one character."""
    return [character if i == 0 else f"##{character}" for i, character in enumerate(word)]
