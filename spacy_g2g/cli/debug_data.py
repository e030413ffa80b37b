"""``debug-data``: figures and problems of the data in a training config, with advice."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from spacy.cli._util import import_code, parse_config_overrides, show_validation_error
from spacy.schemas import ConfigSchemaTraining
from spacy.util import load_config, load_model_from_config, registry, resolve_dot_names
from thinc.api import Config

from ..errors import Errors
from ..evaluation.treebank_advice import find_problems
from ..evaluation.treebank_report import DataReport, count_duplicates
from ..pipeline.g2g_encoder import G2GEncoder
from ..pipeline.g2g_parser import G2GParser
from .common import user_errors, write_json
from .debug_data_component import report_component, writers
from .debug_data_corpus import read_corpus
from .debug_data_tables import print_findings, print_report

CONTEXT = {"allow_extra_args": True, "ignore_unknown_options": True}


def debug_data_cli(
    context: typer.Context,
    config: Annotated[Path, typer.Argument(help="Training config", exists=True, dir_okay=False)],
    limit: Annotated[int, typer.Option(help="Number of Docs to read from each corpus; 0 for all")] = 0,
    output: Annotated[Path | None, typer.Option("--json", help="JSON file with figures and findings")] = None,
    code: Annotated[
        Path | None, typer.Option("--code", "-c", help="Python file with registered functions")
    ] = None,
) -> None:
    """Show figures and problems of the data in a training config.

    Settings of the config can be overridden as in spacy train (--paths.train FILE). The exit status is 1 if
    training on the data is impossible.
    """
    overrides = parse_config_overrides(context.args)
    import_code(code)
    with user_errors(), show_validation_error(config):
        report = debug_data(load_config(config, overrides=overrides), limit=limit, silent=False)
        findings = find_problems(report)
        if output is not None:
            write_json(output, {**report.to_dict(), "findings": [asdict(finding) for finding in findings]})
    print_report(report)
    print_findings(findings)
    if any(finding.level == "error" for finding in findings):
        raise typer.Exit(1)


def debug_data(config: Config, *, limit: int = 0, silent: bool = True) -> DataReport:
    """Return figures of the corpora as the trained parsers of this library see them.

    config: Training config.
    limit: Number of Docs to read from each corpus, 0 for all.
    silent: Show no progress bar.
    Raises ValueError if the config trains no parser of this library, or if a corpus can't be read.
    """
    nlp = load_model_from_config(config, auto_fill=True)
    full = nlp.config.interpolate()
    training = registry.resolve(full["training"], schema=ConfigSchemaTraining)
    parsers = {
        name: pipe
        for name, pipe in nlp.pipeline
        if isinstance(pipe, G2GParser) and name not in training["frozen_components"]
    }
    if not parsers:
        raise ValueError(Errors.E914.format(names=nlp.pipe_names, frozen=training["frozen_components"]))
    if full["initialize"]["before_init"] is not None:  # it may give the pipeline another tokenizer
        registry.resolve({"call": full["initialize"]["before_init"]})["call"](nlp)
    names = [training["train_corpus"], training["dev_corpus"]]
    train, dev = (
        read_corpus(nlp, reader, name, limit=limit, silent=silent)
        for reader, name in zip(resolve_dot_names(full, names), names, strict=True)
    )
    duplicates, long_duplicates = count_duplicates(train.gold, dev.gold)
    learns = bool(train.facts.inner_starts)
    before = [
        name
        for name, pipe in nlp.pipeline[: nlp.pipe_names.index(next(iter(parsers)))]
        if not isinstance(pipe, G2GEncoder) or pipe.finder.trained or (learns and pipe.finder.can_learn)
    ]
    return DataReport(
        train=train.facts,
        dev=dev.facts,
        sets_boundaries=writers(nlp, before, "token.is_sent_start"),
        duplicates=duplicates,
        long_duplicates=long_duplicates,
        components={
            name: report_component(nlp, name, pipe, training["annotating_components"], train, dev)
            for name, pipe in parsers.items()
        },
    )
