"""Find the parsers of a pipeline: the one that answers questions about trees, and those that must not run."""

from pathlib import Path

import spacy
from spacy.language import Language
from spacy.pipeline import DependencyParser

from ..errors import Errors
from ..terminal.messages import msg
from .g2g_parser import G2GParser
from .rng_refiner import RngRefiner


def final_parser(nlp: Language, *, keep_scores: bool = False) -> G2GParser:
    """Return the component whose trees Docs have in the end: the last parser or refiner of a pipeline.

    Ask it for probabilities, for the k best trees, and for another parse. Disabled components, and those of
    other libraries, do not count.

    nlp: The pipeline.
    keep_scores: Let it keep the scores of all arcs in each Doc from now on. Answers need these scores.
    Raises ValueError if the pipeline has no such component, or if its model does not score arcs.

    >>> final_parser(nlp).name
    'g2g_parser'
    """
    parsers = [pipe for _, pipe in nlp.pipeline if isinstance(pipe, G2GParser)]
    if not parsers:
        raise ValueError(Errors.E840.format(names=nlp.pipe_names))
    if keep_scores:
        parsers[-1].check_scores_arcs()
        parsers[-1].keep_scores = True
    return parsers[-1]


def treebank_parsers(nlp: Language) -> list[G2GParser]:
    """Return the parsers of a pipeline that learned names of treebanks; without any, the last parser."""
    parsers = [pipe for _, pipe in nlp.pipeline if isinstance(pipe, G2GParser) and pipe.treebanks]
    return parsers or [final_parser(nlp)]


def load_pipeline(pipeline: str | Path, *, initial: Path | None, silent: bool) -> Language:
    """Load a pipeline. Disable its parsers, but not its refiners, if a file gives the trees.

    pipeline: Folder or name of the pipeline.
    initial: File with the trees, which parsers would overwrite; None if there is none.
    silent: Do not name the disabled parsers.
    """
    nlp = spacy.load(pipeline)
    parsers = [name for name, pipe in nlp.pipeline if isinstance(pipe, G2GParser | DependencyParser)]
    names = [name for name in parsers if not isinstance(nlp.get_pipe(name), RngRefiner)]
    if initial is not None and names:
        nlp.select_pipes(disable=names)
        if not silent:
            msg.info(f"{initial} gives the trees: {', '.join(names)} will not run.")
    return nlp
