"""``calibrate``: fit a parser's probabilities, and the threshold of sentence boundaries, on a treebank."""

from pathlib import Path
from typing import Annotated

import typer
from spacy.cli._util import setup_gpu
from spacy.training import Example

from ..data.docs import TOKEN_ANNOTATIONS, sentences_to_doc
from ..data.input_files import gold_docs, read_gold
from ..errors import Errors
from ..formats.conllx import TREEBANK_SUFFIXES
from ..formats.paragraphs import paragraphs
from ..terminal.common import check_suffix
from ..terminal.messages import msg
from ..terminal.options import BatchSize, GoldTags, GpuId, Initial, Silent
from .final_parser import final_parser, load_pipeline
from .fitting import fit, sentence_finders


def calibrate(
    pipeline: Annotated[Path, typer.Argument(help="Folder of a pipeline, whose parser is calibrated")],
    gold: Annotated[Path, typer.Argument(help="Treebank file with gold trees, not used in training")],
    *,
    gold_tags: GoldTags = False,
    initial: Initial = None,
    batch_size: BatchSize = None,
    gpu_id: GpuId = -1,
    silent: Silent = False,
) -> None:
    """Fit the temperatures of a parser's probabilities on a treebank.

    For a component that finds sentences, also fit the threshold of boundaries. Trees change only where the
    sentences do.
    """
    setup_gpu(gpu_id, silent=silent)
    if not pipeline.is_dir():
        raise ValueError(Errors.E935.format(path=pipeline))
    check_suffix(gold, TREEBANK_SUFFIXES)
    nlp = load_pipeline(pipeline, initial=initial, silent=silent)
    if not sentence_finders(nlp):
        final_parser(nlp, keep_scores=True)  # raises an error if nothing can be fitted
    sentences = read_gold(gold)
    inputs = gold_docs(sentences, nlp.vocab, gold, gold_tags=gold_tags, initial=initial, keep_source=False)
    examples = [
        Example(doc, sentences_to_doc([sentence], nlp.vocab, keep_source=False))
        for doc, sentence in zip(inputs, sentences, strict=True)
    ]
    annotations = [name for name in TOKEN_ANNOTATIONS if gold_tags and name != "SENT_START"]
    documents = [
        Example(
            sentences_to_doc(paragraph, nlp.vocab, annotations=annotations, keep_source=False),
            sentences_to_doc(paragraph, nlp.vocab, annotations=["SENT_START"], keep_source=False),
        )
        for paragraph in paragraphs(sentences)
    ]
    lines = fit(nlp, pipeline, examples=examples, documents=documents, batch_size=batch_size, silent=silent)
    for line in () if silent else lines:
        msg.good(line)
