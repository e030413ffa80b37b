"""The ``lemma_table`` component gives the words of a treebank the lemmas that they have there.

Every ``Language()`` imports this module, so it must stay light: no torch, no tokenizers.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable

from spacy.language import Language
from spacy.lookups import Lookups
from spacy.pipeline import Lemmatizer
from spacy.tokens import Token
from spacy.training import Example

from ..data.multiword import lower_case

#: Tables of the component: the lemmas of words, the parts of speech whose lemmas are in lower case, and the
#: characters of words. Components that were saved by earlier versions do not have the last.
LEMMAS, LOWER_CASE, CHARACTERS = "lemmas", "lower_case", "characters"


class LemmaTable(Lemmatizer):
    """Corrects the lemmas of words that the treebank has, and capital letters in other lemmas."""

    @classmethod
    def get_lookups_config(cls, mode: str) -> tuple[list[str], list[str]]:  # noqa: ARG003
        """Return the names of the tables."""
        return [LEMMAS, LOWER_CASE], [CHARACTERS]

    def table_lemmatize(self, token: Token) -> list[str]:
        """Return the lemma of a token, before further ones that it may have."""
        lemma, known = token.lemma_, self.lookups.get_table(LEMMAS).get(_key(token))
        if known:
            return [lemma] if lemma in known else known
        characters = self.lookups.get_table(CHARACTERS, None)
        if characters and not any(map(characters.__contains__, token.lower_)):
            return [token.text]
        is_lower = lemma[:1].isupper() and token.pos_ in self.lookups.get_table(LOWER_CASE)
        return [lower_case(lemma, lang=self.vocab.lang) if is_lower else lemma]

    def initialize(  # type: ignore[override]
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Language | None = None,  # noqa: ARG002
    ) -> None:
        """Learn the lemmas of the training data.

        get_examples: Training data, whose references have lemmas.
        nlp: Pipeline of the component.
        """
        self.lookups = _empty_tables()
        self.learn(get_examples())

    def learn(self, examples: Iterable[Example]) -> None:
        """Learn from the references of Examples. Their lemmas come before those that the tables have."""
        counts: dict[str, Counter[str]] = defaultdict(Counter)
        n_lower: Counter[str] = Counter()
        for example in examples:
            for token in filter(lambda token: token.lemma, example.reference):
                counts[_key(token)][token.lemma_] += 1
                if token.text[:1].isupper():
                    n_lower[token.pos_] += 1 if token.lemma_[:1].islower() else -1
                if self.lookups.has_table(CHARACTERS):
                    self.lookups.get_table(CHARACTERS).update(dict.fromkeys(token.lower_, True))
        lemmas = self.lookups.get_table(LEMMAS)
        for key, counter in counts.items():
            found = [lemma for lemma, _ in counter.most_common()]
            lemmas[key] = [*dict.fromkeys([*found, *lemmas.get(key, [])])]
        for pos, difference in n_lower.items():
            if difference > 0:
                self.lookups.get_table(LOWER_CASE)[pos] = True


def _empty_tables() -> Lookups:
    lookups = Lookups()
    for name in (LEMMAS, LOWER_CASE, CHARACTERS):
        lookups.add_table(name)
    return lookups


def _key(token: Token) -> str:
    """Return the key of a token: part of speech, and form in lower case with one kind of apostrophe."""
    form = lower_case(token.text, lang=token.vocab.lang).replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    return f"{token.pos_} {form}"


@Language.factory("lemma_table", assigns=["token.lemma"], requires=["token.pos"])
def make_lemma_table(nlp: Language, name: str) -> LemmaTable:
    """Make the ``lemma_table`` component, which knows the lemmas of a treebank's words.

    It stands behind a lemmatizer. Words of the training data keep the lemmatizer's lemma if their form has it
    there with this part of speech. Otherwise they get the most frequent one. Capital letters make no
    difference. Lemmas of other words are put into lower case if that is so in the training data for most
    capitalized words of their part of speech. A word without any character of the training data, such as an
    emoji or a word in another script, is its own lemma.
    """
    table = LemmaTable(nlp.vocab, None, name, mode="table", overwrite=True, scorer=None)
    table.lookups = _empty_tables()
    return table
