"""CoNLL-U sentences to spaCy Docs and back.

A Doc's tokens are syntactic words (``multiword.py`` explains those of multiword tokens). A Doc has no place
for comments, empty nodes, MISC and enhanced dependencies. They travel as raw text in ``doc.user_data``, which
a DocBin keeps. So a Doc from CoNLL-U can be written back with changes in its new annotation only. The rows of
any other Doc come from its tokens.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import accumulate, chain, islice, pairwise
from typing import Any

import numpy as np
from spacy.tokens import Doc, DocBin, Span, Token
from spacy.vocab import Vocab

from ..errors import Errors
from ..formats.conllu import ConlluSentence, parse_sentence
from ..formats.misc import NO_SPACE, escape
from ..formats.paragraphs import paragraphs
from ..formats.rows import EMPTY_ROW, ConlluWord, join_row
from .enhanced import arcs_of, deps_cell, own_enhanced, set_enhanced
from .multiword import is_split, mark_words, multiword_tokens, word_forms
from .roles import misc_cells, own_roles, set_roles
from .source import (
    absolute_heads,
    cell_value,
    find_subtokens,
    keep_conllu,
    own_sentences,
    restore_sentences,
    set_sentences,
)

#: Key of ``doc.user_data``; the value is the name of the Doc's treebank in a corpus of several.
TREEBANK_KEY = "treebank"
_UPOS_TAGS = "ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X"
UPOS_TAGS = frozenset(_UPOS_TAGS.split())
TOKEN_ANNOTATIONS = ("SENT_START", "TAG", "POS", "MORPH", "LEMMA")
ALL_ANNOTATIONS = (*TOKEN_ANNOTATIONS, "HEAD", "DEP")
TREE_COLUMNS = ("head", "deprel")
#: Number of sentences that show whether each sentence of a treebank is a document.
FIRST_SENTENCES = 10
ALL_COLUMNS = ("lemma", "upos", "xpos", "feats", *TREE_COLUMNS)


def sentences_to_docs(
    sentences: Iterable[ConlluSentence],
    vocab: Vocab,
    *,
    n_sents: int = 1,
    annotations: Collection[str] = ALL_ANNOTATIONS,
    keep_source: bool = True,
) -> Iterator[Doc]:
    """Yield Docs of up to ``n_sents`` sentences each. The comment ``# newdoc`` starts a Doc.

    If each of the first ten sentences is a document of its own, as in Japanese-GSD, the comment is ignored.
    Docs of several sentences then show where sentences end.

    n_sents: Maximum number of sentences in a Doc.
    annotations: Annotations to set, from ``ALL_ANNOTATIONS``; "HEAD" and "DEP" only together.
    keep_source: Keep the raw text in ``doc.user_data``.
    Raises ValueError if n_sents is below 1, or for an unknown annotation.
    """
    if n_sents < 1:
        raise ValueError(Errors.E501.format(n_sents=n_sents))
    check_annotations(annotations, ALL_ANNOTATIONS)
    rest = iter(sentences)
    first = [*islice(rest, FIRST_SENTENCES)]
    n_documents = sum(sentence.comment("newdoc") is not None for sentence in first)
    starts = [] if n_documents == FIRST_SENTENCES else ["newdoc"]
    for paragraph in paragraphs(chain(first, rest), starts=starts, max_sentences=n_sents):
        yield sentences_to_doc(paragraph, vocab, annotations=annotations, keep_source=keep_source)


def sentences_to_doc(
    sentences: Sequence[ConlluSentence],
    vocab: Vocab,
    *,
    annotations: Collection[str] = ALL_ANNOTATIONS,
    keep_source: bool = True,
) -> Doc:
    """Make one Doc of sentences, as ``sentences_to_docs`` does; "_" becomes missing annotation.

    A multiword token with fewer characters than words is not marked. Its words are in the text of the Doc.
    """
    words = [*chain.from_iterable(sentence.words for sentence in sentences)]
    columns = _annotations(words, annotations)
    if "HEAD" in annotations:
        columns["heads"] = absolute_heads(sentences)
    spaces = [*chain.from_iterable(sentence.spaces for sentence in sentences)]
    subtokens, ranges = find_subtokens(sentences)
    try:
        doc = Doc(vocab, words=subtokens, spaces=spaces, **columns)
    except ValueError:
        _check_features(sentences, vocab)
        raise
    split_words = chain.from_iterable(words[start:end] for start, end in ranges)
    mark_words(doc, ranges, [word.form for word in split_words])
    if keep_source:
        keep_conllu(doc, sentences)
    if "SENT_START" in annotations:
        set_sentences(doc, [len(sentence.words) for sentence in sentences])
    return doc


def _annotations(words: Sequence[ConlluWord], names: Collection[str]) -> dict[str, Any]:
    """Return the named annotations of words, except heads, as arguments of ``Doc``."""
    columns: dict[str, Any] = {}
    if "TAG" in names:
        columns["tags"] = [cell_value(word.xpos) for word in words]
    if "POS" in names:
        columns["pos"] = [word.upos if word.upos in UPOS_TAGS else "" for word in words]
    if "MORPH" in names:
        columns["morphs"] = [cell_value(word.feats) for word in words]
    if "LEMMA" in names:
        columns["lemmas"] = [word.lemma if word.form == "_" else cell_value(word.lemma) for word in words]
    if "DEP" in names:
        # To spaCy, a token with an empty label has no head.
        columns["deps"] = ["" if word.head is None else word.deprel or "_" for word in words]
    return columns


def read_bin(content: bytes, vocab: Vocab) -> Iterator[Doc | Exception]:
    """Yield each Doc of the bytes of a DocBin, with boundaries and without its tree, or why it can't be read.

    Raises an exception of any kind if the bytes are not a DocBin.
    """
    bin_ = DocBin().from_bytes(content)
    names = ("tokens", "spaces", "cats", "span_groups", "flags", "user_data")
    columns = [getattr(bin_, name) for name in names]
    for i in range(len(bin_)):
        try:
            for name, column in zip(names, columns, strict=True):
                setattr(bin_, name, column[i : i + 1])
            (doc,) = bin_.get_docs(vocab)
            bin_.strings = set()  # The vocabulary has them now.
            restore_sentences(doc)
            set_enhanced(doc, None)
            set_roles(doc, None)
            if not is_split(doc):
                mark_words(doc, [], [])
            no_tree = np.zeros((len(doc), 2), dtype=np.uint64)
            write_tree(doc, no_tree, starts=doc.to_array("SENT_START"))
        except Exception as error:
            yield error
        else:
            yield doc


def write_tree(doc: Doc, parse: Any, *, starts: Any) -> None:
    """Write heads, labels and sentence boundaries to a Doc.

    parse: HEAD (relative) and DEP of each token, uint64 [tokens, 2].
    starts: SENT_START of each token, uint64 [tokens].
    """
    if len(doc):
        # HEAD with DEP resets the boundaries, so they are written afterwards.
        doc.from_array(["HEAD", "DEP"], parse)
        doc.from_array("SENT_START", starts)


def doc_to_sentences(
    doc: Doc, *, doc_id: str = "1", columns: Collection[str] = TREE_COLUMNS
) -> list[ConlluSentence]:
    """Convert a Doc's sentences to CoNLL-U. Missing annotation becomes "_", and the label ROOT becomes root.

    A Doc from CoNLL-U gives back its own rows, with new values in some columns, in DEPS if an enhanced graph
    was set, and in MISC if roles were set. For any other Doc, all columns are written and white-space tokens
    are left out. The dependents of such a token move to its head, and its text goes to MISC (SpacesAfter, as
    in UDPipe). If the tokens of a Doc from CoNLL-U were merged or split, it counts as another Doc, with a
    warning.

    doc_id: Beginning of each ``# sent_id`` of a Doc that is not from CoNLL-U: ``{doc_id}-{number}``.
    columns: Columns to take from a Doc that is from CoNLL-U.
    Raises ValueError if the text is no longer that of the CoNLL-U, or if an arc crosses the boundary of a
        sentence.

    >>> (sentence,) = doc_to_sentences(doc)
    >>> [word.form for word in sentence.words]
    ['We', 'parse', 'trees']
    """
    if (source := own_sentences(doc)) is not None:
        return _update(source, doc, columns)
    sentences: list[ConlluSentence] = []
    ends, forms = dict(multiword_tokens(doc)), word_forms(doc)
    for span in sentences_of(doc):
        words = [token for token in span if not token.is_space]
        if words:
            sentences.append(_sentence_from_tokens(words, f"{doc_id}-{len(sentences) + 1}", ends, forms))
    return sentences


def sentences_of(doc: Doc) -> list[Span]:
    """Return the sentences of a Doc, or the whole Doc if no boundary is set; [] if it is empty."""
    if not len(doc):
        return []
    return list(doc.sents) if doc.has_annotation("SENT_START") else [doc[:]]


def copy_treebank(doc: Doc, *, to: Doc) -> None:
    """Copy the name of a Doc's treebank, if it has one, to another Doc."""
    if TREEBANK_KEY in doc.user_data:
        to.user_data[TREEBANK_KEY] = doc.user_data[TREEBANK_KEY]


def check_annotations(names: Collection[str], expected: Sequence[str]) -> None:
    """Raise ValueError for an unknown name, or if only one of HEAD and DEP is named."""
    unknown = sorted(set(names) - set(expected))
    if unknown:
        raise ValueError(Errors.E502.format(names=unknown, expected=list(expected)))
    if ("HEAD" in names) != ("DEP" in names):
        raise ValueError(Errors.E503.format(names=list(names)))


def _check_features(sentences: Iterable[ConlluSentence], vocab: Vocab) -> None:
    """Raise ValueError with file and line for the first features that spaCy can't read."""
    for sentence in sentences:
        for i, word in enumerate(sentence.words):
            try:
                vocab.morphology.add(cell_value(word.feats))
            except ValueError as error:
                where = sentence.location(i)
                raise ValueError(Errors.E520.format(where=where, feats=word.feats[:80])) from error


def _update(sentences: list[ConlluSentence], doc: Doc, columns: Collection[str]) -> list[ConlluSentence]:
    """Update some columns of the sentences that a Doc was read from."""
    columns = columns if own_enhanced(doc) is None else {*columns, "deps"}
    ends = accumulate((len(sentence.words) for sentence in sentences), initial=0)
    updated = []
    for sentence, (start, end) in zip(sentences, pairwise(ends), strict=True):
        updated.append(
            _with_roles(sentence.with_tree(**_columns(doc[start:end], columns)), [*doc[start:end]])
        )
    return updated


def _with_roles(sentence: ConlluSentence, words: Sequence[Token]) -> ConlluSentence:
    """Write the roles that were set on the Doc of some words to MISC."""
    if own_roles(words[0].doc) is None:
        return sentence
    return sentence.replace(misc=misc_cells(words, [word.misc for word in sentence.words]))


def _columns(span: Span, names: Collection[str]) -> dict[str, list[str]]:
    """Return the named columns of a sentence whose tokens are all words."""
    ids = {token.i: i for i, token in enumerate(span, start=1)}
    heads = [_head_id(token, token.head, ids) for token in span]
    columns = {}
    for name in names:
        if name == "deps":
            columns[name] = [*map(deps_cell, arcs_of([*span]))]
        else:
            columns[name] = [*map(_CELLS[name], span, heads)]
    return columns


def _head_id(word: Token, head: Token, ids: dict[int, int]) -> int | None:
    """Look up the ID of a word's head among those of the sentence; 0 for ROOT, None if missing."""
    if head.i == word.i:
        return 0 if word.dep else None
    if head.i not in ids:
        raise ValueError(Errors.E505.format(word=word.text, head=head.text, index=word.i))
    return ids[head.i]


def _head_ids(words: Iterable[Token], ids: dict[int, int]) -> Iterator[int | None]:
    """Yield the ID of each word's head.

    The dependents of white space move to its head. If white space is the root, its first dependent takes its
    place.
    """
    new_root = 0
    for word in words:
        head = word.head
        while head.is_space and head.head.i != head.i:
            head = head.head
        if head.is_space:
            yield new_root  # 0 at first, for the first dependent of white space
            new_root = new_root or ids[word.i]
        else:
            yield _head_id(word, head, ids)


def _one_line(text: str) -> str:
    """Make a text fit into a cell: strip it, and put one space for tabs, line breaks and several spaces."""
    return re.sub(r"\s\s+|[\t\r\n]", " ", text).strip()


def _deprel_cell(word: Token, head: int | None) -> str:
    """Return the label of a word: "root" if it has taken the place of white space as the root."""
    is_root = head == 0 and (word.dep_ in ("", "ROOT") or word.head.i != word.i)
    return "root" if is_root else _one_line(word.dep_) or "_"


#: Cell of a word, and of the ID of its head, by the name of the column and in the order of the columns.
_CELLS: dict[str, Callable[[Token, int | None], str]] = {
    "lemma": lambda word, _: _one_line(word.lemma_) or "_",
    "upos": lambda word, _: word.pos_ or "_",
    "xpos": lambda word, _: _one_line(word.tag_) or "_",
    "feats": lambda word, _: "|".join(sorted(str(word.morph).split("|"), key=str.lower)) or "_",
    "head": lambda _, head: "_" if head is None else str(head),
    "deprel": _deprel_cell,
}


def _sentence_from_tokens(
    words: list[Token], sent_id: str, ends: dict[int, int], forms: Sequence[str]
) -> ConlluSentence:
    """Make a sentence of words.

    ends: Index after the last token of each multiword token, by the index of its first token. A multiword
        token that ends in another sentence is ignored.
    forms: Forms of the words of the Doc.
    """
    ids = {word.i: i for i, word in enumerate(words, start=1)}
    text, rows, multiword_end = "", list[str](), 0
    for word, head, arcs in zip(words, _head_ids(words, ids), arcs_of(words), strict=True):
        cells = [cell(word, head) for cell in _CELLS.values()]
        end = ends.get(word.i, 0)
        if end - 1 in ids:
            multiword_end = end
            id_, last = f"{ids[word.i]}-{ids[end - 1]}", word.doc[end - 1]
            form, misc = _one_line(word.doc[word.i : end].text), _spaces_misc(word, last)
            rows.append(join_row([id_, form, *["_"] * 7, misc]))
            text += form if NO_SPACE in misc else form + " "
        if word.i < multiword_end:
            form, misc = _one_line(forms[word.i]) or "_", "_"
        else:
            form, misc = _one_line(word.text), _spaces_misc(word, word)
            text += form if NO_SPACE in misc else form + " "
        rows.append(join_row([str(ids[word.i]), form, *cells, deps_cell(arcs), misc]))
    comments = [f"# sent_id = {_one_line(sent_id)}\n", f"# text = {text.rstrip()}\n"]
    sentence = parse_sentence([*comments, *rows, EMPTY_ROW], source=f"Doc sentence {sent_id}")
    return _with_roles(sentence, words)


def _spaces_misc(word: Token, last: Token) -> str:
    """Return a MISC cell: the white space around a token of the text, unless that is one space after it.

    word, last: First and last word of the token.
    """
    doc = word.doc
    end = last.i + 1
    while end < len(doc) and doc[end].is_space:
        end += 1
    after = last.whitespace_ + doc[last.i + 1 : end].text_with_ws
    features = []
    if after not in ("", " "):
        features.append("SpacesAfter=" + escape(after))
    elif not after and end < len(doc):
        features.append(NO_SPACE)
    if word.i and all(token.is_space for token in doc[: word.i]):
        features.append("SpacesBefore=" + escape(doc[: word.i].text_with_ws))
    return "|".join(features) or "_"
