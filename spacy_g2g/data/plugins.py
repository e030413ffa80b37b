"""Plug-ins for annotation that the core does not know, such as AMRs: how commands read, write and draw it.

A package registers a module with the functions of ``Plugin`` by an entry point of the group
``spacy_g2g_plugins``. The name of the entry point is the suffix of the files, without the dot. The module is
imported when a command first asks for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Protocol

from spacy.tokens import Doc
from spacy.vocab import Vocab

#: Group of entry points.
GROUP = "spacy_g2g_plugins"


class GoldSentence(Protocol):
    """A sentence of a file: its id or "", its text, its words, and the text of its annotation."""

    id: str
    sentence: str
    tokens: list[str]
    text: str


class Plugin(Protocol):
    """Functions of a plug-in. The annotation of a Doc is a text for each of its sentences.

    EXTENSION: Extension attribute of Docs with the annotation, which goes to JSON lines.
    """

    EXTENSION: str

    def read(self, path: Path, vocab: Vocab) -> Iterator[tuple[Doc, GoldSentence]]:
        """Yield a Doc for each sentence of a file, with its words alone, and the sentence."""

    def write(
        self, parsed: Iterable[tuple[Doc, Mapping[str, Any]]], *, prefix: str, components: Sequence[str]
    ) -> Iterator[str]:
        """Yield the text of a file.

        parsed: Docs, with the further keys of their input.
        prefix: Beginning of the ids that are made for sentences without one.
        components: Names of the pipeline's components, for error messages.
        """

    def get(self, doc: Doc) -> list[str] | None:
        """Return the annotation of each sentence, or None if the Doc has none."""

    def remove(self, doc: Doc) -> None:
        """Remove the annotation of a Doc, if it has any."""

    def draw(self, predicted: str, *, gold: str) -> list[str]:
        """Return figures as HTML of the annotation of a sentence. Both texts may be empty."""


@cache
def plugins() -> dict[str, Plugin]:
    """Return the plug-ins that are installed, by the suffix of their files."""
    points = sorted(entry_points(group=GROUP), key=lambda point: point.name)
    return {f".{point.name}": point.load() for point in points}
