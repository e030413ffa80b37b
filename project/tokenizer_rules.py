"""Rules of spaCy's tokenizer, and candidates for new rules from the chunks that it cuts in the wrong way."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from itertools import chain, pairwise
from typing import Any, Literal
from unicodedata import category

from spacy.lang.char_classes import ALPHA_LOWER, ALPHA_UPPER
from spacy.language import Language
from spacy.symbols import ORTH
from spacy.tokenizer import Tokenizer
from spacy.util import compile_infix_regex, compile_prefix_regex, compile_suffix_regex
from spacy.vocab import Vocab

from spacy_g2g.evaluation.tokenization import Chunk
from spacy_g2g.tokenizer.learned_tokenizer import EMOJI


def _marks() -> str:
    """Return a pattern of the marks on letters, which the module re does not count as parts of words."""
    marks = {code for code in range(0x10000) if category(chr(code))[0] == "M"}
    firsts = sorted(code for code in marks if code - 1 not in marks)
    lasts = sorted(code for code in marks if code + 1 not in marks)
    return "[" + "".join(f"{chr(a)}-{chr(b)}" for a, b in zip(firsts, lasts, strict=True)) + "]"


#: A letter, or a mark on one, such as a vowel sign of Tamil or Hindi.
LETTER, DIGIT = rf"(?:[^\W\d_]|{_marks()})", r"\d"
#: Maximum number of letters of a part of a token whose number of letters is a pattern.
_SHORT = 2
_PARTS = re.compile(rf"{DIGIT}+|{LETTER}+|.", re.DOTALL)
#: Flags at the start of a pattern. They apply to all of it, so no other pattern may stand before them.
_FLAGS = re.compile(r"(?:\(\?[aiLmsux]+\))+")
#: Flags that can also apply to a part of a pattern.
_SCOPED = {"a": re.A, "i": re.I, "m": re.M, "s": re.S, "x": re.X}
#: Form of a pattern whose method `match` finds what another method finds.
_METHODS = {"match": "{}", "fullmatch": r"(?:{})\Z", "search": "(?s:.*?)(?:{})"}

Kind = Literal["prefixes", "suffixes", "infixes", "whole"]
AFFIXES: tuple[Kind, ...] = ("prefixes", "suffixes", "infixes")
#: Abbreviations that few treebanks have and that the rules of the language lack, without their full stops. In
#: lower case, they stand for the capitalized forms, too.
ABBREVIATIONS: Mapping[str, str] = {
    "bg": "бул др инж лв проф стр тел ул",
    "ca": "art av núm pàg pàgs sra srs tel vol",
    "cs": "apod atd č doc dr hod ing max mgr mil min mld např nám obr prof př resp str sv tel tj tzn tzv ul",
    "de": "Anm Hrsg Tab Tel Verf",
    "el": "δρ καθ κα κκ λεωφ οδ περ Απρ Αυγ Γεν Δεκ Ιαν Ιουλ Ιουν Μαρ Νοε Οκτ Σεπ Φεβ",  # noqa: RUF001
    "en": "al approx assn ave blvd capt cf cmdr cpl dept eq eqs esp ext fig figs fri hon incl lieut lt maj "
    "mon pp pres rd resp Sec Secs sgt supt Tab tel thu thurs tue tues univ viz vol vols wed",
    "es": "admón arq art atte cap dpto dña izq ltda pág págs sras sres tel tfno vol",
    "fi": "engl kpl nro",
    "fr": "al c.-à-d chap éd env ex fig figs hab p.ex tél vol",
    "hr": "br dr god ing itd itsl mil mr npr prof sl st str tel tj tzv ul",
    "hu": "db",
    "it": "cell cfr dott egr es fig ing mld mln nr pagg prof sig tel vol",
    "nl": "excl incl tel",
    "pl": "dr godz im mln np nr prof rys str tj tzn tzw ul",
    "pt": "apto cap dra exa exmo fig inc ltda núm págs prof vol",
    "ro": "ap bl dl dna mil mld pag sc vol",
    "ru": "др рис тел",
    "sl": "dr itd npr prof str št tel tj ul",
    "sr": "br dr god ing itd mil mr npr prof sl str tel tj tzv ul",
    "sv": "ca dr jfr nr st",
    "tr": "bkz örn",
    "uk": "вул гр грн див млн млрд напр рр тел тис",  # noqa: RUF001
}
#: Patterns of words that a language has beside those of its rules: German Kolleg:innen, Leser*in
WHOLE: Mapping[str, tuple[str, ...]] = {"de": (r"[^\W\d_]{2,}[:*_]in(?:nen)?(?:-\w+)?",)}
#: Words that a language appends to others with a hyphen, in groups: French dit-il, a-t-il. A treebank that
#: cuts off most words of a group would cut off all of them.
APPENDED: Mapping[str, tuple[str, ...]] = {
    "fr": (
        "-ce -elle -elles -en -il -ils -je -la -le -les -leur -lui -moi -nous -on -t -toi -tu -vous -y",
        "-t-elle -t-elles -t-il -t-ils -t-on",
    ),
}
#: Words behind a hyphen, alone and at the end of a word.
_APPENDED_WORD, _HYPHENATED = re.compile(r"(?:-[^\W\d_]+)+"), re.compile(r"(?<=[^\W\d_])-[^\W\d_]+$")
#: A hyphen, as typed or as printed.
_HYPHEN = "[-\u2010\u2011]"
#: Minimum number of words that a treebank cuts an ending off, beyond those that keep it.
MIN_CUT = 2
#: An apostrophe, as typed or as printed.
_APOSTROPHE = "['\u2019]"
#: Marks that people type for one another: apostrophes, and n.º and n.°
_TWINS = str.maketrans("'\u2019\u00ba", "\u2019'\u00b0")
#: A run of a mark that draws a line, sets a style or compares: ==, **
_RUN = r"(?:==+(?![-=])|\*\*+|__+|~~+)"
#: A tag of HTML.
_TAG = r"</?[A-Za-z][A-Za-z0-9-]*/?>"
#: Characters without a width, as editors of Arabic and Hebrew write them. They stay with a mark beside them.
_INVISIBLE = r"[\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]"
#: Rules for marks that people type but few treebanks have, beside those of the language.
TYPED: Mapping[str, tuple[str, ...]] = {
    # The bars of a table, arrows.
    # Runs of a mark: ==, **; quotation marks of two commas
    "prefixes": (
        r"\|",
        r"<?[-=]+>|<[-=]+",
        _RUN,
        r",,(?=\w)",
        EMOJI,
        _TAG,
        rf"{_INVISIBLE}+[^\w\s]",
    ),
    # A full stop after a symbol or a unit: 10€. 👍. $1.5M.; after two letters of any script; vas-y.; after a
    # year, a time or a price, which are no ordinal numbers: 12.03.2024. 14:30. 9,50.
    "suffixes": (
        r"\|",
        _RUN,
        r"(?<=\d{4})\.",
        r"(?<=[:,]\d\d)\.",
        r"(?<=,\d)\.",
        EMOJI,
        _TAG,
        rf"[^\w\s]{_INVISIBLE}+",
        r"(?<=[^\w\s.])\.",
        r"(?<=\d[^\W\d_])\.",
        rf"(?<={LETTER}{LETTER})\.",
        rf"(?<={LETTER}{_HYPHEN}[{ALPHA_LOWER}])\.",
    ),
    # The target of a link in Markdown, [text](target) or [text][target]; a footnote[^1]; said:"Yes."Hi!I
    # Other angle brackets, an arrow->there, the commas of a line of a table: Ann,34,York; p<0.05;
    # a bracket inside a chunk: said(as, (so)it; hola,¿qué; „so“–er, l'«amico»; in 1990.Then
    "infixes": (
        r"(?<=\]\()[^\s)]+",
        r"\](?=[(\[])",
        r"(?<=\])[(\[]",
        r"\[(?=\^)",
        r"\|",
        r'(?<=\w)[:;,.!?](?=["“„«])',
        r'(?<=[:;,.!?])["“”„«»](?=\w)',
        r'(?<=\w)["“”»](?=[:;,.!?])',
        r'(?<=["“”»])[:;,.!?]+(?=[^\W\d_])',
        r"(?<=\w)[:;,.!?]*(?=[¡¿])|[¡¿]",
        r"[«»„]|(?<=\w)[“”](?=[\u2013\u2014])",
        rf'(?<={_APOSTROPHE})["“](?=\w)',
        rf"(?<=\d{{3}})\.(?=[{ALPHA_UPPER}][{ALPHA_LOWER}])",
        r"(?<=\w)[!?]+(?=[^\W\d_])",
        _TAG,
        r"(?<=\S)</?(?=[^\W\d_])",
        r"(?<=[\w\"'/])>(?=[^\W\d_<])",
        r"(?<=\w)(?:<?[-=]+>|<[-=]+)(?=\w)",
        r"(?<=[^\W\d_]),(?=\d)",
        r"(?<=\d),(?=[^\W\d_])",
        r"(?<=\w)(?:[<>]=?|[≤≥])(?=\.?\d)(?!3(?![\d.]))",
        r"(?<=[\w)])\((?=\w)",
        r"(?<=\w)\)(?=[^\W_]|\()",
        EMOJI,
    ),
}
#: Second parts of contractions, before another mark in the same chunk: I'm—well, don't/won't.
_CLITIC = re.compile(r"n?['\u2019][^\W\d_]{1,2}")
#: Emoticons of spaCy that are more often ordinary marks: (page 8) (for four): >=3
_NO_EMOTICON = re.compile(r"\)[:;]|\d\)|[:=]\d")
#: Full stops after a word that a treebank leads one to expect. With fewer, a form with one is no such word.
MIN_STOPS = 0.1
#: Number of abbreviations without their full stop to one with it, above which a treebank cuts all of them.
MOST = 9
#: A word with short endings in brackets: account(s), étudiant(e)s, 5(b)(ii)
_BRACKETED = r"[^\W_]+(?:\([^\W_]{1,3}\))+[^\W\d_]{0,2}"
#: An abbreviation of letters with full stops: p.m., S.p.A., D.Lgs.
_LETTERS = r"\b(?:[^\W\d_]\.)+[^\W\d_]{1,3}\."
#: A number with a full stop that may be an ordinal number, such as a day.
ORDINAL = re.compile(r"\d{1,2}\.")
#: A hashtag.
_HASHTAG = r"#[^\W\d_]\w*"
#: An abbreviation of one word.
_ABBREVIATION = re.compile(r"[^\W\d_]{2,}\.")
COMPILE: dict[str, Callable[[Any], re.Pattern[str]]] = {
    "prefixes": compile_prefix_regex,
    "suffixes": compile_suffix_regex,
    "infixes": compile_infix_regex,
}


@dataclass(frozen=True)
class Rules:
    """Rules of a tokenizer. Patterns that were added come before the language's own.

    prefixes: Patterns to cut off at the start of a chunk.
    suffixes: Patterns to cut off at its end.
    infixes: Patterns to cut out of the rest.
    whole: Patterns of text that is not cut unless it ends in ``appended``.
    appended: Pattern of words that are cut off behind a hyphen, or None.
    added: Patterns that were added to the prefixes, suffixes and infixes, by these names.
    exceptions: Tokens of a chunk, or of the rest of a chunk, in spaCy's format.
    token_match: The language's own pattern of text that is never cut, or None.
    url_match: Pattern of URLs, or None.
    """

    prefixes: tuple[str, ...] = ()
    suffixes: tuple[str, ...] = ()
    infixes: tuple[str, ...] = ()
    whole: tuple[str, ...] = ()
    appended: str | None = None
    added: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    exceptions: Mapping[str, Any] = field(default_factory=dict)
    token_match: str | None = None
    url_match: str | None = None

    def tokenizer(self, vocab: Vocab) -> Tokenizer:
        """Make a spaCy tokenizer."""
        both = {kind: (*self.added.get(kind, ()), *getattr(self, kind)) for kind in AFFIXES}
        search = {kind: patterns and COMPILE[kind](patterns) for kind, patterns in both.items()}
        return self._with(
            vocab,
            search["prefixes"] and search["prefixes"].search,
            search["suffixes"] and search["suffixes"].search,
            search["infixes"] and search["infixes"].finditer,
            re.compile("|".join(self._never_cut())).match if self._never_cut() else None,
            self.exceptions,
        )

    def trial(self, vocab: Vocab, exceptions: Mapping[str, Any]) -> Tokenizer:
        """Make a tokenizer for a trial. Only the added patterns are compiled for it.

        vocab: Vocabulary.
        exceptions: Exceptions to use.
        """
        patterns = {}
        for kind in AFFIXES:
            added = _compiled(kind, self.added.get(kind, ()))
            patterns[kind] = [pattern for pattern in (added, _compiled(kind, getattr(self, kind))) if pattern]
        return self._with(
            vocab,
            partial(_leftmost, patterns["prefixes"]),
            partial(_leftmost, patterns["suffixes"]),
            partial(_all_matches, patterns["infixes"]),
            partial(_first_match, [*map(_compile, self._never_cut())]),
            exceptions,
        )

    def _never_cut(self) -> list[str]:
        guard = rf"(?!\S*{self.appended}\Z)" if self.appended else ""
        whole = [rf"{guard}(?:{pattern})\Z" for pattern in self.whole]
        return [*whole, self.token_match] if self.token_match else whole

    def _with(
        self, vocab: Vocab, prefix: Any, suffix: Any, infix: Any, whole: Any, exceptions: Any
    ) -> Tokenizer:
        return Tokenizer(
            vocab,
            rules=dict(exceptions),
            prefix_search=prefix or None,
            suffix_search=suffix or None,
            infix_finditer=infix or None,
            token_match=whole,
            url_match=_compile(self.url_match).match if self.url_match else None,
        )


#: Compiles a pattern once. Some languages' patterns take half a second, and Python itself keeps only 512.
_compile = lru_cache(maxsize=1024)(re.compile)


@lru_cache(maxsize=1024)
def _compiled(kind: str, patterns: tuple[str, ...]) -> re.Pattern[str] | None:
    return COMPILE[kind](patterns) if patterns else None


def _leftmost(patterns: list[re.Pattern[str]], text: str, start: int = 0) -> re.Match[str] | None:
    """Return the leftmost match of several patterns; of equal ones, that of the first pattern."""
    matches = [match for pattern in patterns if (match := pattern.search(text, start))]
    return min(matches, key=lambda match: match.start(), default=None)


def _first_match(patterns: list[re.Pattern[str]], text: str) -> re.Match[str] | None:
    return next((match for pattern in patterns if (match := pattern.match(text))), None)


def _all_matches(patterns: list[re.Pattern[str]], text: str) -> list[re.Match[str]]:
    matches: list[re.Match[str]] = []
    start = 0
    while start <= len(text) and (match := _leftmost(patterns, text, start)):
        matches.append(match)
        start = max(match.end(), start + (match.end() == match.start()), match.start() + 1)
    return matches


@dataclass(frozen=True)
class Change:
    """A change of the rules.

    trigger: Pattern that occurs in every chunk that the change can affect.
    added: Patterns to put before the others, each with the rules that it belongs to.
    dropped: Pattern to remove, with the rules that it belongs to.
    """

    trigger: str
    added: tuple[tuple[Kind, str], ...] = ()
    dropped: tuple[Kind, str] | None = None

    def apply(self, rules: Rules) -> Rules:
        """Return the changed rules."""
        for kind, pattern in self.added:
            if kind == "whole":
                rules = replace(rules, whole=(pattern, *rules.whole))
            else:
                more = (pattern, *rules.added.get(kind, ()))
                rules = replace(rules, added={**rules.added, kind: more})
        if self.dropped is not None:
            kind, pattern = self.dropped
            others = tuple(other for other in getattr(rules, kind) if other != pattern)
            rules = replace(rules, **{kind: others})  # type: ignore[arg-type]
        return rules


def language_rules(nlp: Language) -> Rules:
    """Return the rules of a language, as patterns that can be joined and that spaCy can save.

    ``ABBREVIATIONS`` are among its exceptions, and ``WHOLE`` among its patterns.

    Raises ValueError for a match function that is not a method of a pattern: spaCy could not save it.
    """
    defaults = nlp.Defaults
    forms = [f"{form}." for form in ABBREVIATIONS.get(nlp.lang or "", "").split()]
    forms += [form[:1].upper() + form[1:] for form in forms]
    abbreviations = {form: [{ORTH: form}] for form in forms}
    return Rules(
        prefixes=_pieces("prefixes", defaults.prefixes),
        suffixes=_pieces("suffixes", defaults.suffixes),
        infixes=_pieces("infixes", defaults.infixes),
        whole=WHOLE.get(nlp.lang or "", ()),
        exceptions={**abbreviations, **(defaults.tokenizer_exceptions or {})},
        token_match=_match_pattern(nlp, "token_match"),
        url_match=_match_pattern(nlp, "url_match"),
    )


def words_before_stops(chunks: Counter[Chunk]) -> Callable[[str], bool]:
    """Return a function that tells whether a form is rather a word and a full stop than an abbreviation.

    French "a." is one, since *a* is frequent and *a.* is not: "il y en a." So is "No.", which the treebank
    cuts once, if it has *No* more often than *No.* Numbers of one or two digits count together, since German
    "3." is an ordinal number if "5." is.

    chunks: Counts of a treebank's chunks by their tokens.
    """
    counts: Counter[str] = Counter()
    for chunk, n in chunks.items():
        for token in chunk:
            counts[token] += n
    cut = [chunk for chunk in chunks if chunk[1:] and chunk[-1] == "."]
    words, share = {chunk[-2] for chunk in cut}, sum(map(chunks.__getitem__, cut)) / chunks.total()
    n_cut = sum(chunks[chunk] for chunk in cut if ORDINAL.fullmatch(chunk[-2] + "."))
    n_whole = sum(n for token, n in counts.items() if ORDINAL.fullmatch(token))

    def is_word(form: str) -> bool:
        word = form[:-1]
        if ORDINAL.fullmatch(form):
            return n_cut > n_whole
        expected = counts[word] if word in words else share * counts[word]
        return form.endswith(".") and expected > max(counts[form], MIN_STOPS)

    return is_word


def with_twins(chunks: Counter[Chunk]) -> Counter[Chunk]:
    """Return chunks, and those whose words have another mark that people type for one of their own.

    A treebank that has only *l'* thus teaches *l\u2019*, too. Marks without letters stay as they are.

    chunks: Counts of chunks by their tokens.
    """
    twins: Counter[Chunk] = Counter()
    for chunk, n in chunks.items():
        twin = tuple(_twin(token) if any(map(str.isalnum, token)) else token for token in chunk)
        if twin not in chunks:
            twins[twin] = n
    return chunks + twins


def _twin(text: str) -> str:
    return text.translate(_TWINS)


def keeps(pattern: str, chunks: Counter[Chunk]) -> bool:
    """Return whether text that a pattern describes stays whole. It does unless a treebank cuts most of it.

    pattern: Regular expression.
    chunks: Counts of a treebank's chunks by their tokens.
    """
    balance = 0
    for chunk, n in chunks.items():
        if re.search(pattern, "".join(chunk)):
            balance += n if any(re.fullmatch(pattern, token) for token in chunk) else -n
    return balance >= 0


def appended_words(chunks: Iterable[Chunk], *, lang: str) -> str | None:
    """Return a pattern of the words that a treebank cuts off behind a hyphen, None if there are none.

    Those of ``APPENDED`` that the treebank lacks are among them if it cuts off most of their group.

    chunks: Chunks by their tokens.
    lang: Code of the language.
    """
    cut: set[tuple[str, str]] = set()
    kept: set[str] = set()
    for chunk in chunks:
        words = [token.lower() for token in chunk]
        cut.update(
            pair for pair in pairwise(words) if _APPENDED_WORD.fullmatch(pair[1]) and pair[0][-1].isalpha()
        )
        kept.update(word for word in words if word[0] != "-" and _HYPHENATED.search(word))
    balance = Counter(word for _, word in cut)
    balance.subtract(_HYPHENATED.findall(word)[0] for word in kept)
    found = {word for word, n in balance.items() if n >= MIN_CUT}
    for group in APPENDED.get(lang, ()):
        if sum(balance[word] for word in group.split()) > 0:
            found.update(word for word in group.split() if balance[word] >= 0)
    pattern = "|".join(re.escape(word).replace(r"\-", _HYPHEN) for word in sorted(found))
    return rf"(?<={LETTER})(?i:{pattern})" if pattern else None


def for_typed_text(
    rules: Rules, is_word: Callable[[str], bool], chunks: Counter[Chunk], *, lang: str
) -> Rules:
    """Return a language's rules with ``TYPED``, without exceptions that cut ordinary text in the wrong way.

    The language's contractions are also cut before a mark such as a dash, where exceptions have no effect,
    and its abbreviations before a number. If a treebank cuts the full stop off nearly all abbreviations, none
    that it lacks stays an exception. The words of ``appended_words`` are cut off.

    rules: Rules of a language.
    is_word: See ``words_before_stops``.
    chunks: Counts of a treebank's chunks by their tokens.
    lang: Code of the language.
    """
    appended = appended_words(chunks, lang=lang)
    seen = set(chain.from_iterable(chunks))
    abbreviations = {form for form in rules.exceptions if _ABBREVIATION.fullmatch(form)}
    cut, whole = set(filter(is_word, abbreviations)), abbreviations & seen
    unwanted = abbreviations - whole if len(cut) > MOST * max(1, len(whole)) else cut
    exceptions = {
        form: tokens
        for form, tokens in rules.exceptions.items()
        if not _NO_EMOTICON.fullmatch(form)
        and not is_word(form)
        and form not in unwanted
        and not (appended and _cuts_elsewhere(tokens, appended))
    }
    for form in [form for form in exceptions if _twin(form) not in exceptions]:
        exceptions[_twin(form)] = [{**token, ORTH: _twin(token[ORTH])} for token in exceptions[form]]
    parts = {tokens[-1][ORTH] for tokens in exceptions.values() if len(tokens) == 2}
    clitics = "|".join(sorted(map(re.escape, filter(_CLITIC.fullmatch, parts))))
    affixes: dict[str, Any] = {kind: (*TYPED[kind], *getattr(rules, kind)) for kind in AFFIXES}
    if clitics:
        affixes["infixes"] += (rf"(?<=[^\W\d_])(?:{clitics})(?=[^\w\s'\u2019])",)
    if before := "|".join(sorted(map(re.escape, abbreviations - unwanted))):
        affixes["prefixes"] = (rf"(?:{before})(?=\d[\W\d]*$)", *affixes["prefixes"])
    if keeps(_HASHTAG, chunks):
        affixes["prefixes"] = (rf"{_HASHTAG}(?!\S*\w)", *affixes["prefixes"])
    if appended:
        affixes["suffixes"] = (appended, *affixes["suffixes"])
    kept = [pattern for pattern in (_BRACKETED, _LETTERS) if keeps(pattern, chunks)]
    return replace(rules, **affixes, whole=(*kept, *rules.whole), appended=appended, exceptions=exceptions)


def _cuts_elsewhere(tokens: Sequence[Mapping[Any, Any]], appended: str) -> bool:
    """Return whether an exception cuts a chunk, but not where the last of ``appended_words`` starts."""
    match = re.search(rf"{appended}\Z", "".join(token[ORTH] for token in tokens))
    return match is not None and len(tokens) > 1 and match[0] != tokens[-1][ORTH]


def _pieces(kind: Kind, pieces: Iterable[Any] | None) -> tuple[str, ...]:
    """Return affixes or infixes, each with the flags that apply to all of them once they are joined."""
    patterns = [piece for piece in pieces or () if piece.strip()]
    flags = COMPILE[kind](patterns).flags
    return tuple(_scoped(pattern, flags) for pattern in patterns)


def _match_pattern(nlp: Language, name: str) -> str | None:
    match = getattr(nlp.Defaults, name)
    if match is None:
        return None
    pattern = getattr(match, "__self__", None)
    if not isinstance(pattern, re.Pattern) or match.__name__ not in _METHODS:
        raise ValueError(
            f"The {name} of the language {nlp.lang} is {match!r}. Expected a method of a pattern, as in "
            "re.compile(...).match."
        )
    return _METHODS[match.__name__].format(_scoped(pattern.pattern, pattern.flags))


def _scoped(pattern: str, flags: int) -> str:
    """Return a pattern with its flags inside, such as (?i:...), so that it can be a part of another.

    spaCy saves patterns without the flags that they were compiled with.
    """
    names = "".join(name for name, flag in _SCOPED.items() if flags & flag)
    # A comment in a verbose pattern goes on to the end of its line.
    end = "\n" if flags & re.X else ""
    bare = _FLAGS.sub("", pattern, count=1) if _FLAGS.match(pattern) else pattern
    return f"(?{names}:{bare}{end})" if names else bare


def additions(wrong: Iterable[tuple[Chunk, Chunk, int]]) -> list[Change]:
    """List new patterns that would fix at least two distinct chunks, the most useful first.

    wrong: Gold tokens, tokens of the tokenizer, and number of times, of each chunk.
    """
    n_chunks: Counter[Change] = Counter()
    n_times: Counter[Change] = Counter()
    for gold, system, n in wrong:
        for change in dict.fromkeys(_additions(gold, system)):
            n_chunks[change] += 1
            n_times[change] += n
    useful = [change for change in n_times if n_chunks[change] > 1]
    return sorted(useful, key=lambda change: (-n_times[change], change.added))


def removals(rules: Rules) -> Iterator[Change]:
    """Yield the removal of each affix and infix."""
    for kind in AFFIXES:
        for pattern in getattr(rules, kind):
            yield Change(trigger=pattern, dropped=(kind, pattern))


def _additions(gold: Chunk, system: Chunk) -> Iterator[Change]:
    cuts, own = set(_ends(gold)), set(_ends(system))
    start = 0
    for token in gold:
        end = start + len(token)
        if any(start < i < end for i in own):
            yield from _keep(token)
        start = end
    text, bounds = "".join(gold), [0, *sorted(cuts)]
    for i in sorted(cuts - own):
        place = bounds.index(i)
        left, right = text[bounds[place - 1] : i], text[i : bounds[place + 1]]
        yield from _split(left, right, text[:i], text[i:])


def _ends(tokens: Chunk) -> Iterator[int]:
    end = 0
    for token in tokens:
        end += len(token)
        yield end


def _everywhere(pattern: str) -> Change:
    return Change(pattern, (("prefixes", pattern), ("suffixes", pattern), ("infixes", pattern)))


def _keep(token: str) -> Iterator[Change]:
    """Yield patterns that keep a token whole."""
    if not any(char.isalnum() for char in token):
        yield from _runs(token)
        return
    parts = _PARTS.findall(token)
    exact = [_shape(part, exact=True) for part in parts]
    loose = [_shape(part, exact=False) for part in parts]
    patterns = ["".join(exact), "".join(loose)]
    if len(parts) > 2:
        patterns.append(f"(?i:{re.escape(parts[0])})" + "".join(loose[1:]))
        patterns.append("".join(loose[:-1]) + f"(?i:{re.escape(parts[-1])})")
    for pattern in patterns:
        yield Change(pattern, (("whole", pattern),))


def _runs(token: str) -> Iterator[Change]:
    """Yield patterns that keep a run of symbols together."""
    if len(set(token)) == 1:
        for length in (2, 3, 4):
            if len(token) >= length:
                yield _everywhere(f"{re.escape(token[0])}{{{length},}}")
    else:
        symbols = "".join(re.escape(char) for char in sorted(set(token)))
        yield from map(_everywhere, (f"[{symbols}]{{2,}}", re.escape(token)))


def _shape(part: str, *, exact: bool) -> str:
    kind = DIGIT if part[0].isdigit() else LETTER
    if _class(part[0]) != kind:
        return re.escape(part)
    has_length = exact and (kind == DIGIT or len(part) <= _SHORT)
    return f"{kind}{{{len(part)}}}" if has_length else f"{kind}+"


def _split(left: str, right: str, before: str, after: str) -> Iterator[Change]:
    """Yield patterns that cut between two tokens.

    left, right: The tokens.
    before, after: Text of the chunk on either side of the cut.
    """
    is_first, is_last = left == before, right == after
    behind, ahead = f"(?<={_class(left[-1])})", f"(?={_class(right[0])})"
    last, first = re.escape(left[-1]), re.escape(right[0])
    for pattern in (behind + ahead, f"(?<={last}){ahead}", f"{behind}(?={first})"):
        yield Change(pattern, (("infixes", pattern),))
    follow = "" if is_last else f"(?={_class(after[len(right)])})"
    kind: Kind = "suffixes" if is_last else "infixes"
    for pattern in (f"{behind}(?i:{re.escape(right)}){follow}", *_bare(right, right[0])):
        yield Change(pattern, ((kind, pattern),))
    if is_first:
        for pattern in (f"(?i:{re.escape(left)}){ahead}", *_bare(left, left[-1])):
            yield Change(pattern, (("prefixes", pattern),))


def _bare(token: str, edge: str) -> list[str]:
    """Return a token as a pattern, unless it could be the end of a word."""
    return [] if _class(edge) in (LETTER, DIGIT) else [re.escape(token)]


def _class(char: str) -> str:
    is_letter = char.isalpha() or category(char)[0] == "M"
    return LETTER if is_letter else DIGIT if char.isdigit() else re.escape(char)
