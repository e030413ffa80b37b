"""The sample treebank holds what a parser should meet."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "assets" / "sample"
SPLITS = ("train", "dev", "test")


class Parsed(NamedTuple):
    """A sentence of a CoNLL-U file: comments, the rows of all lines, and those of words alone."""

    comments: list[str]
    rows: list[list[str]]
    words: list[list[str]]

    @property
    def text(self) -> str:
        return next(line for line in self.comments if line.startswith("# text = "))[len("# text = ") :]

    @property
    def heads(self) -> list[int]:
        """Head of each word from 1; index 0 is the root node."""
        return [-1, *(int(row[6]) for row in self.words)]


def read(split: str) -> list[Parsed]:
    blocks = (SAMPLE / f"en_sample-ud-{split}.conllu").read_text(encoding="utf-8").strip().split("\n\n")
    sentences = []
    for lines in (block.split("\n") for block in blocks):
        rows = [line.split("\t") for line in lines if not line.startswith("#")]
        comments = [line for line in lines if line.startswith("#")]
        sentences.append(Parsed(comments, rows, [row for row in rows if row[0].isdigit()]))
    return sentences


@pytest.fixture(scope="module")
def sample() -> dict[str, list[Parsed]]:
    return {split: read(split) for split in SPLITS}


def path_to_root(heads: list[int], word: int) -> list[int]:
    """The word and all above it, with 0 last; ends early where it meets a cycle."""
    path = [word]
    while path[-1] > 0 and heads[path[-1]] not in path:
        path.append(heads[path[-1]])
    return path


def has_crossing_arc(heads: list[int]) -> bool:
    """Whether some arc spans a word that its head does not dominate."""
    return any(
        heads[word] not in path_to_root(heads, between)
        for word in range(1, len(heads))
        for between in range(min(word, heads[word]) + 1, max(word, heads[word]))
    )


def rebuilt_text(sentence: Parsed) -> str:
    text, inside = "", 0
    for row in sentence.rows:
        if "-" in row[0]:
            inside = int(row[0].split("-")[1])
        elif int(row[0]) <= inside:
            continue
        text += row[1] + ("" if row[9] == "SpaceAfter=No" else " ")
    return text.rstrip(" ")


def test_sizes(sample: dict[str, list[Parsed]]) -> None:
    assert [len(sample[split]) for split in SPLITS] == [2400, 200, 200]
    assert sum(path.stat().st_size for path in SAMPLE.iterdir()) < 3_000_000
    lengths = [len(sentence.words) for sentences in sample.values() for sentence in sentences]
    assert 3 <= min(lengths) <= max(lengths) <= 30
    assert sum(lengths) / len(lengths) >= 11


def test_every_relation_of_dev_and_test_is_frequent_in_train(sample: dict[str, list[Parsed]]) -> None:
    counts = Counter(word[7] for sentence in sample["train"] for word in sentence.words)
    assert len(counts) >= 25
    assert min(counts.values()) >= 25
    assert {
        word[7] for split in ("dev", "test") for sent in sample[split] for word in sent.words
    } <= counts.keys()


@pytest.mark.parametrize("split", SPLITS)
def test_one_sentence_in_twenty_has_crossing_arcs(sample: dict[str, list[Parsed]], split: str) -> None:
    crossing = [has_crossing_arc(sentence.heads) for sentence in sample[split]]
    assert sum(crossing) / len(crossing) >= 0.05


@pytest.mark.parametrize("split", SPLITS)
def test_every_sentence_is_a_tree_with_one_root_and_has_the_text_of_its_tokens(
    sample: dict[str, list[Parsed]], split: str
) -> None:
    for sentence in sample[split]:
        assert rebuilt_text(sentence) == sentence.text
        assert [row[0] for row in sentence.words] == [str(i) for i in range(1, len(sentence.words) + 1)]
        assert [(row[6] == "0") for row in sentence.words] == [(row[7] == "root") for row in sentence.words]
        assert sentence.heads.count(0) == 1
        assert all(path_to_root(sentence.heads, word)[-1] == 0 for word in range(1, len(sentence.heads)))


def test_no_sentence_occurs_twice(sample: dict[str, list[Parsed]]) -> None:
    texts = Counter(sentence.text.lower() for split in SPLITS for sentence in sample[split])
    assert max(texts.values()) == 1


def test_dev_and_test_have_mostly_known_words(sample: dict[str, list[Parsed]]) -> None:
    known = {word[1].lower() for sentence in sample["train"] for word in sentence.words}
    for split in ("dev", "test"):
        forms = [word[1].lower() for sentence in sample[split] for word in sentence.words]
        unknown = sum(form not in known for form in forms) / len(forms)
        assert 0 < unknown < 0.05


@pytest.mark.parametrize("split", SPLITS)
def test_format_features_are_present(sample: dict[str, list[Parsed]], split: str) -> None:
    ranges = {row[1].lower() for sentence in sample[split] for row in sentence.rows if "-" in row[0]}
    assert {"didn't", "let's"} <= ranges
    assert any(form.endswith(("'s", "s'")) for form in ranges)
    comments = {line.split(" ")[1] for sentence in sample[split] for line in sentence.comments}
    assert comments == {"newdoc", "newpar", "sent_id", "text"}
    for upos, column in (("NOUN", 5), ("VERB", 5), ("PRON", 5), ("NOUN", 4)):
        assert all(word[column] != "_" for sent in sample[split] for word in sent.words if word[3] == upos)


def test_prepositional_attachment_depends_on_the_words(sample: dict[str, list[Parsed]]) -> None:
    """After one verb, object and preposition, the noun decides: saw X with the lens, with the beard."""
    attachments: dict[tuple[str, str], set[str]] = defaultdict(set)
    for sentence in sample["train"]:
        cases = {int(word[6]): word[2] for word in sentence.words if word[7] == "case"}
        objects = {i: int(word[6]) for i, word in enumerate(sentence.words, 1) if word[7] == "obj"}
        for i, word in enumerate(sentence.words, 1):
            head = int(word[6])
            verb = objects.get(head, head)
            follows_object = any(obj < i for obj, governor in objects.items() if governor == verb)
            if word[7] in ("obl", "nmod") and follows_object and i in cases:
                attachments[sentence.words[verb - 1][2], cases[i]].add(word[7])
    both = [frame for frame, relations in attachments.items() if relations == {"obl", "nmod"}]
    assert len(both) >= 10


def test_coordination_depends_on_the_words(sample: dict[str, list[Parsed]]) -> None:
    """In "N with N and N" the last noun may join either of the two before it."""
    hosts: Counter[str] = Counter()
    for sentence in sample["train"]:
        relations = {i: word[7] for i, word in enumerate(sentence.words, 1)}
        parents = {i: int(word[6]) for i, word in enumerate(sentence.words, 1)}
        for i, word in enumerate(sentence.words, 1):
            if word[7] == "conj" and word[3] == "NOUN":
                if relations[parents[i]] == "nmod":
                    hosts["inner"] += 1
                elif any(parents[j] == parents[i] and relations[j] == "nmod" and j < i for j in parents):
                    hosts["outer"] += 1
    assert min(hosts["inner"], hosts["outer"]) >= 20
