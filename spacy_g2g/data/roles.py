"""Semantic roles, who did what to whom: predicates and their arguments, on Docs and in the column MISC.

On a Doc, ``doc._.g2g_roles`` is a list of ``Predicate``, or None. ``Doc.to_bytes`` and ``DocBin`` keep a list
that was set. If the tokens of the Doc change, it is removed with a warning.

In CoNLL-U, the row of a predicate has two features in MISC: ``Pred=ROLESET`` and
``Args=ROLE:HEAD:FIRST-LAST,...``, with IDs of words. A comment ``# roles = SOURCE`` says that a sentence was
annotated, even if it has no predicate.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from spacy.tokens import Doc, Token
from spacy.training import Example

from ..errors import Errors
from ..formats.conllu import ConlluSentence
from .source import USER_DATA_KEY, own_sentences
from .token_check import own_value, with_tokens

#: Extension attribute of Docs, and key of ``doc.user_data``.
ROLES = "g2g_roles"
#: Comment of an annotated sentence, and features of MISC.
COMMENT, PRED, ARGS = "roles", "Pred=", "Args="
#: Columns of a predicate or an argument, by their names.
Row = dict[str, Any]
_ARGUMENT = re.compile(r"([^\s:,|]+):(\d+):(\d+)-(\d+)")


class Argument(NamedTuple):
    """An argument of a predicate.

    role: Name of the role, such as ARG0 or ARGM-TMP.
    head: Index of its head in the Doc.
    start, end: Its span, ``doc[start:end]``.
    probability: Probability of head and role, given the predicate.
    """

    role: str
    head: int
    start: int
    end: int
    probability: float = 1.0


class Predicate(NamedTuple):
    """A predicate with its arguments.

    word: Index of its word in the Doc.
    roleset: Its sense, such as kill.01; "" if unknown.
    arguments: Its arguments.
    probability: Probability that the word is a predicate with this roleset.
    """

    word: int
    roleset: str = ""
    arguments: tuple[Argument, ...] = ()
    probability: float = 1.0


def set_roles(doc: Doc, predicates: Iterable[Any] | None) -> None:
    """Set the roles of a Doc, or remove them. Raises ValueError if they do not fit the Doc."""
    doc.user_data.pop(ROLES, None)
    if predicates is not None:
        plain = []
        for word, roleset, arguments, probability in _check([*predicates], doc):
            plain.append([word, roleset, [[*argument] for argument in arguments], probability])
        doc.user_data[ROLES] = with_tokens(doc, {"predicates": plain})


def own_roles(doc: Doc) -> list[Predicate] | None:
    """Return the roles that were set on a Doc, or None. Raises ValueError if they do not fit the Doc."""
    value = own_value(doc, ROLES)
    if value is None:
        return None
    return _check(value.get("predicates") if isinstance(value, dict) else value, doc)


def get_roles(doc: Doc) -> list[Predicate] | None:
    """Return the roles that were set on a Doc. Without them, return those of its CoNLL-U, or None.

    Raises ValueError if the roles do not fit the Doc, or if MISC can't be read.
    """
    if (own := own_roles(doc)) is not None:
        return own
    texts = (doc.user_data.get(USER_DATA_KEY) or {}).get("text", ())
    if not any(PRED in text or f"# {COMMENT}" in text for text in texts):
        return None
    found, start, is_annotated = list[Predicate](), 0, False
    for sentence in own_sentences(doc) or ():
        predicates = list(_read_misc(sentence, start))
        is_annotated |= bool(predicates) or sentence.comment(COMMENT) is not None
        found += predicates
        start += len(sentence.words)
    return found if is_annotated else None


def keep_roles(doc: Doc) -> None:
    """Set the roles of a Doc's CoNLL-U on the Doc, so that they stay when the CoNLL-U goes."""
    if own_roles(doc) is None and (roles := get_roles(doc)) is not None:
        set_roles(doc, roles)


def role_rows(doc: Doc) -> list[Row]:
    """Return the roles that were set on a Doc as plain values, with the texts of words and spans."""
    rows = []
    for predicate in own_roles(doc) or ():
        arguments = [
            {**each._asdict(), "text": doc[each.start : each.end].text} for each in predicate.arguments
        ]
        rows.append({**predicate._asdict(), "text": doc[predicate.word].text, "arguments": arguments})
    return rows


def set_role_rows(doc: Doc, rows: Iterable[Row]) -> None:
    """Set the roles of a Doc from ``role_rows``. Raises ValueError if they do not fit the Doc."""
    predicates = []
    for row in rows:
        arguments = [[*map(each.__getitem__, Argument._fields)] for each in row["arguments"]]
        predicates.append([row["word"], row["roleset"], arguments, row["probability"]])
    set_roles(doc, predicates)


def misc_cells(words: Sequence[Token], cells: Iterable[str]) -> list[str]:
    """Return the cells of MISC of a sentence with the roles that were set on its Doc.

    words: Words of the sentence.
    cells: Their cells without these roles.
    Raises ValueError if an argument is not in the sentence.
    """
    doc, ids = words[0].doc, {word.i: number for number, word in enumerate(words, start=1)}
    own = own_roles(doc)
    if own is None:
        return [*cells]
    by_word = {predicate.word: predicate for predicate in own}
    merged = []
    for word, cell in zip(words, cells, strict=True):
        features = [each for each in cell.split("|") if each != "_" and not each.startswith((PRED, ARGS))]
        if word.i in by_word:
            features += _features(by_word[word.i], doc, ids)
        merged.append("|".join(features) or "_")
    return merged


def aligned_roles(example: Example) -> list[Predicate] | None:
    """Return the gold roles of an Example in terms of the tokens of its predicted Doc, or None.

    A gold token that is not exactly one token there has an index below 0, which no other token has.
    """
    gold = get_roles(example.reference)
    if gold is None:
        return None
    x2y, y2x = example.alignment.x2y, example.alignment.y2x
    places = [-1 - i for i in range(len(example.reference))]
    for i in range(len(places)):
        if y2x.lengths[i] == 1 and x2y.lengths[int(y2x[i][0])] == 1:
            places[i] = int(y2x[i][0])
    aligned = []
    for each in gold:
        arguments = [
            argument._replace(
                head=places[argument.head], start=places[argument.start], end=places[argument.end - 1] + 1
            )
            for argument in each.arguments
        ]
        aligned.append(each._replace(word=places[each.word], arguments=tuple(arguments)))
    return aligned


def _features(predicate: Predicate, doc: Doc, ids: dict[int, int]) -> Iterator[str]:
    """Yield the features of a predicate. IDs of words by their indices; ends of spans may be white space."""
    yield f"{PRED}{predicate.roleset or '_'}"
    texts = []
    for argument in predicate.arguments:
        inside = [ids[i] for i in range(argument.start, argument.end) if i in ids]
        if argument.head not in ids:
            names = {"head": doc[argument.head].text, "word": doc[predicate.word].text}
            raise ValueError(Errors.E505.format(**names, index=predicate.word))
        texts.append(f"{argument.role}:{ids[argument.head]}:{inside[0]}-{inside[-1]}")
    if texts:
        yield ARGS + ",".join(texts)


def _read_misc(sentence: ConlluSentence, offset: int) -> Iterator[Predicate]:
    """Yield the predicates of a sentence, whose first word has the index ``offset`` in the Doc."""
    n = len(sentence.words)
    for i, word in enumerate(sentence.words):
        features = word.misc.split("|")
        roleset = next((each for each in features if each.startswith(PRED)), None)
        if roleset is None:
            continue
        cell = next((each.removeprefix(ARGS) for each in features if each.startswith(ARGS)), "")
        arguments = []
        for text in filter(None, cell.split(",")):
            match = _ARGUMENT.fullmatch(text)
            head, first, last = (int(number) for number in match.groups()[1:]) if match else (0, 0, 0)
            if match is None or not 1 <= first <= head <= last <= n:
                raise ValueError(Errors.E526.format(where=sentence.location(i), value=text[:80], n=n))
            argument = Argument(match[1], offset + head - 1, offset + first - 1, offset + last)
            arguments.append(argument)
        name = roleset.removeprefix(PRED)
        yield Predicate(offset + i, "" if name == "_" else name, tuple(arguments))


def _check(predicates: Any, doc: Doc) -> list[Predicate]:
    """Return predicates in the order of their words. Raises ValueError if they do not fit the Doc."""
    n, checked, is_right = len(doc), list[Predicate](), True
    try:
        for each in (Predicate(*predicate) for predicate in predicates):
            arguments = tuple(Argument(*argument) for argument in each.arguments)
            checked.append(each._replace(arguments=arguments))
            is_right &= 0 <= each.word < n and not re.search(r"[\s|]", each.roleset)
            for role, head, start, end, _ in arguments:
                is_right &= 0 <= start <= head < end <= n and _ARGUMENT.match(f"{role}:0:0-0") is not None
    except (TypeError, ValueError, AttributeError):
        is_right = False
    if not is_right or len({each.word for each in checked}) < len(checked):
        raise ValueError(Errors.E527.format(found=repr(predicates)[:80], n=n))
    return sorted(checked, key=lambda each: each.word)


Doc.set_extension(ROLES, getter=get_roles, setter=set_roles, force=True)
