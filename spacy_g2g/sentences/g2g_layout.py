"""The ``g2g_layout`` component reads the layout of a text before a senter and taggers do.

Every ``Language()`` imports this module, so it must stay light: no torch, no tokenizers.
"""

from typing import Any

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc

from ..data.segmentation import segment
from .lines import read_white_space

#: Tag of white space in spaCy's own pipelines.
SPACE_TAG = "_SP"


@Language.factory(
    "g2g_layout",
    assigns=["token.tag", "token.pos", "token.morph", "token.lemma", "token.is_sent_start"],
    default_config={"blocks": True},
)
def make_g2g_layout(nlp: Language, name: str, blocks: bool) -> "G2GLayout":  # noqa: ARG001
    """Make the ``g2g_layout`` component, which annotates white space as spaCy's own pipelines do.

    White space gets the tag "_SP", the part of speech SPACE, no features, and its text as its lemma. Later
    taggers keep these annotations unless they overwrite all.

    blocks: Start a sentence at the start of each block: a paragraph after a blank line, a heading, an item of
        a list, a row of a table, a quotation. A later ``senter`` or ``sentencizer`` keeps these boundaries.
        A ``g2g_encoder`` or ``g2g_parser`` that finds sentences has its own setting for this.
    """
    return G2GLayout(blocks=blocks)


class G2GLayout:
    """Annotates white space, and starts sentences where blocks start."""

    def __init__(self, *, blocks: bool = True) -> None:
        self.blocks = blocks

    def __call__(self, doc: Doc) -> Doc:
        """Annotate a Doc, and return it. Values of ``SENT_START`` that are already set stay."""
        spaces = np.flatnonzero(doc.to_array("IS_SPACE"))
        for i in spaces.tolist():
            token = doc[i]
            token.tag_, token.pos_, token.lemma_ = SPACE_TAG, "SPACE", token.text
            token.set_morph("")
        if len(spaces) and self.blocks:
            segmentation, starts = segment([doc]), doc.to_array("SENT_START").astype(np.int64)
            words, white_space = segmentation.words, read_white_space([doc], segmentation)
            # White space at the end of a block is in its last sentence. A sentencizer would start one there.
            is_end = np.append(white_space.is_block, len(words) > 0)[np.searchsorted(words, spaces)]
            for tokens, value in (
                (words[white_space.is_block], 1),
                (words[white_space.is_inside], -1),  # A sentencizer would cut "1." off.
                (spaces[is_end], -1),
            ):
                starts[tokens[starts[tokens] == 0]] = value
            values: Any = starts.astype(np.uint64)
            doc.from_array("SENT_START", values)
        return doc
