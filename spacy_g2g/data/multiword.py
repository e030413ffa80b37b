"""Words of multiword tokens in Docs: subtokens of the text, the forms of the words, and spans that join them.

Universal Dependencies counts words, spaCy counts tokens. Where a token of the text is several words, as
Italian "della" is "di" and "la", the Doc has a subtoken for each word. Its ORTH is a part of the text, so the
text stays as it is. Its NORM is the form of the word. A span of ``doc.spans["mwt"]`` covers the subtokens of
one multiword token. Its label repeats the forms, since JSON and some DocBins lose NORM. In a Doc with this
group, even an empty one, the words are final.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain, pairwise
from typing import Any, cast

from spacy.matcher import levenshtein
from spacy.tokens import Doc, Span, SpanGroup

from ..arrays import HashArray
from ..errors import Errors
from ..formats.misc import NO_SPACE
from ..formats.rows import SurfaceToken

#: Key of the group of spans that marks multiword tokens.
MULTIWORD = "mwt"
#: Maximum number of characters of a token that is cut.
MAX_LENGTH = 200
#: Languages with a dotted and a dotless I, and these letters in lower case.
DOTTED, LOWER_I = frozenset({"az", "tr"}), str.maketrans("\u0130I", "i\u0131")
#: First token of a multiword token, and the one after its last.
Range = tuple[int, int]


class WordSpans(SpanGroup):
    """Spans of multiword tokens, which follow their characters when tokens of their Doc are merged or split.

    spaCy does not update the indices in groups of spans. A span is removed if its characters are no longer
    several whole tokens.
    """

    def _follow(self) -> list[Span]:
        doc, span_at, to_bytes = self.doc, super().__getitem__, super().to_bytes
        try:
            spans = [span_at(i) for i in range(super().__len__())]
        except IndexError:
            # spaCy makes no Span that ends behind the last token of its Doc.
            longer = Doc(doc.vocab, ["-"] * len(doc.text))
            spans = [*SpanGroup(longer).from_bytes(to_bytes())]
        present = [doc.char_span(s.start_char, s.end_char, s.label, s.kb_id, span_id=s.id) for s in spans]
        pairs = zip(present, spans, strict=True)
        if all(new is not None and (new.start, new.end) == (old.start, old.end) for new, old in pairs):
            return spans
        moved = [span for span in present if span is not None and len(span) > 1]
        self.from_bytes(SpanGroup(doc, name=self.name, attrs=self.attrs, spans=moved).to_bytes())
        return moved

    def __len__(self) -> int:
        return len(self._follow())

    def __getitem__(self, i: int) -> Span:
        return self._follow()[i]

    def __iter__(self) -> Iterator[Span]:
        return iter(self._follow())

    def to_bytes(self) -> bytes:
        """Return the spans as bytes."""
        self._follow()
        return super().to_bytes()

    def copy(self, doc: Doc | None = None) -> SpanGroup:
        """Return a copy of the spans for the same Doc, or for another Doc with the same tokens."""
        return WordSpans(doc or self.doc).from_bytes(super().copy(doc).to_bytes())


def lower_case(text: str, *, lang: str) -> str:
    """Return a text in lower case, by the letters of its language.

    >>> lower_case("I\u015fIK", lang="tr")
    '\u0131\u015f\u0131k'
    """
    return (text.translate(LOWER_I) if lang in DOTTED else text).lower()


def can_be_cut(form: str, n_words: int) -> bool:
    """Return whether a token has a visible character for each of its words, and is not too long."""
    return len(form) <= MAX_LENGTH and len("".join(form.split())) >= n_words


@lru_cache(maxsize=100_000)
def cut(form: str, words: tuple[str, ...]) -> tuple[str, ...] | None:
    """Cut a multiword token into a subtoken for each of its words. Joined, the subtokens are the token again.

    The cut with the smallest sum of edit distances between subtokens and words, in lower case, wins. Among
    equals, the cut with most letters in subtokens that equal their word wins, then the one with the shortest
    first subtokens.

    Returns a subtoken for each word, none of them blank; None if ``can_be_cut`` is false.

    >>> cut("della", ("di", "la"))
    ('del', 'la')
    """
    if not can_be_cut(form, len(words)):
        return None
    lower_words, text = [word.lower() for word in words], form.lower()
    if len(text) != len(form):
        text = form
    # Best cut of the text up to each place: distance, letters in subtokens that differ, places of the cuts.
    best: dict[int, tuple[int, int, tuple[int, ...]]] = {0: (0, 0, (0,))}
    for number, word in enumerate(lower_words, start=1):
        longer: dict[int, tuple[int, int, tuple[int, ...]]] = {}
        for start, (distance, n_different, places) in best.items():
            ends = range(start + 1, len(text) + 1) if number < len(lower_words) else [len(text)]
            for end in ends:
                subtoken = text[start:end]
                if subtoken.strip():
                    added = levenshtein(subtoken, word)
                    choice = (distance + added, n_different + (len(word) if added else 0), (*places, end))
                    longer[end] = min(choice, longer.get(end, choice))
        best = longer
    return tuple(form[start:end] for start, end in pairwise(best[len(text)][2]))


def mark_words(doc: Doc, ranges: Sequence[Range], forms: Sequence[str]) -> None:
    """Mark the multiword tokens of a Doc, and set the forms of their words.

    doc: The Doc, whose tokens are words or subtokens.
    ranges: Its multiword tokens.
    forms: Forms of the words in multiword tokens, in their order.
    """
    subtokens = chain.from_iterable(range(start, end) for start, end in ranges)
    form_by_token = dict(zip(subtokens, forms, strict=True))
    for i, form in form_by_token.items():
        doc[i].norm_ = form
    spans = []
    for start, end in ranges:
        label = " ".join(form_by_token[i] for i in range(start, end))
        spans.append(Span(doc, start, end, label))
    doc.spans[MULTIWORD] = WordSpans(doc, name=MULTIWORD, spans=spans)


def surface_tokens(doc: Doc) -> list[SurfaceToken]:
    """List the tokens of a Doc's text, with their words. White space is left out."""
    forms, ends = word_forms(doc), dict(multiword_tokens(doc))
    tokens, end = [], 0
    for i in range(len(doc)):
        if i < end:
            continue
        end = ends.get(i, i + 1)
        if not doc[i].is_space:
            misc = "_" if doc[end - 1].whitespace_ else NO_SPACE
            tokens.append(SurfaceToken(doc[i:end].text, tuple(forms[i:end]), i + 1, i in ends, misc))
    return tokens


def is_split(doc: Doc) -> bool:
    """Return whether the words of a Doc are final, so that its tokens must not be split again."""
    return MULTIWORD in doc.spans


def multiword_tokens(doc: Doc) -> list[Range]:
    """List the multiword tokens of a Doc, without those whose subtokens another component has merged.

    Raises ValueError if two of them overlap.
    """
    return [(span.start, span.end) for span in _word_spans(doc)]


def _word_spans(doc: Doc) -> list[Span]:
    if not is_split(doc):
        return []
    group = doc.spans[MULTIWORD]
    if not isinstance(group, WordSpans):
        spans = [*WordSpans(doc).from_bytes(group.to_bytes())]
        for span in spans:
            span.label_ = span.label_ or " ".join(_forms(span))
        doc.spans[MULTIWORD] = group = WordSpans(doc, name=group.name, attrs=group.attrs, spans=spans)
    spans = [span for span in group if len(span) > 1]
    if any(other.start < one.end for one, other in pairwise(spans)):
        spans.sort()
        for one, other in pairwise(spans):
            if other.start < one.end:
                raise ValueError(Errors.E560.format(spans=[(s.text, s.start, s.end) for s in (one, other)]))
    return spans


def _forms(span: Span) -> list[str]:
    """Return the forms of a multiword token's words: NORM, or the label's word where NORM is lost."""
    norms, label = [token.norm_ for token in span], span.label_
    words = label.split(" ")
    if label == " ".join(norms) or len(words) != len(norms):
        return norms
    return [t.norm_ if t.norm != t.lex.norm else word or t.norm_ for t, word in zip(span, words, strict=True)]


def attribute_hashes(doc: Doc, attrs: Sequence[str]) -> HashArray:
    """Return attributes of the forms of words: NORM inside of multiword tokens, and ORTH elsewhere.

    attrs: Names of attributes, such as SHAPE. ORTH is the form itself.
    Returns uint64 [tokens, attributes].
    """
    hashes: Any = doc.to_array([*attrs]).reshape(len(doc), len(attrs))
    for span in _word_spans(doc):
        for i, form in enumerate(_forms(span), start=span.start):
            word = doc.vocab[form]
            hashes[i] = [getattr(word, name.lower()) for name in attrs]
    return cast(HashArray, hashes)


def word_forms(doc: Doc) -> list[str]:
    """Return the form of each word of a Doc.

    >>> word_forms(doc)
    ['We', 'parse', 'trees']
    """
    strings = doc.vocab.strings
    return [strings[value] for value in attribute_hashes(doc, ["ORTH"])[:, 0].tolist()]


def copy_words(source: Doc, *, to: Doc, places: Sequence[int] | None = None, lower: bool = False) -> None:
    """Copy the multiword tokens of a Doc to one with the same tokens.

    to: Doc that gets them. Its words are final from now on. A word whose form is the text of its token takes
        the text of the new token.
    places: Index in ``source`` of each token of ``to``, -1 for a new token; None if they are the same. A
        multiword token is not copied if a part of it is missing.
    lower: Put the words into lower case.
    """
    places, lang = range(len(source)) if places is None else places, source.vocab.lang
    index = {place: i for i, place in enumerate(places)}
    ranges, forms = [], list[str]()
    for span in _word_spans(source):
        first = index.get(span.start, len(places))
        if [*places[first : first + len(span)]] == [*range(span.start, span.end)]:
            ranges.append((first, first + len(span)))
            for token, form, new in zip(span, _forms(span), to[first:], strict=False):
                own = lower_case(form, lang=lang) if lower else form
                forms.append(new.text if form == token.text else own)
    mark_words(to, ranges, forms)
