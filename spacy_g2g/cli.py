"""Command line ``python -m spacy g2g``: each command is a function with the command's arguments.

From Python, the functions raise errors. The command prints them (``common.user_errors``).
"""

import typer
from spacy.cli._util import app as spacy_app

from .amr.convert_amr import convert_amr
from .analysis.analyze import analyze
from .analysis.evaluate import evaluate
from .analysis.refinement import refinement
from .analysis.render import render
from .conversion.convert import convert
from .conversion.parse import parse
from .corpus_job.parse_corpus import parse_corpus
from .debug_data.debug_data import CONTEXT, debug_data
from .parser.calibrate import calibrate
from .serve.serve import serve
from .terminal.common import user_errors

HELP = "Graph-to-Graph Transformer parsing: convert treebanks, parse, evaluate, serve."

app = typer.Typer(name="g2g", help=HELP, no_args_is_help=True)
app.command("convert")(user_errors()(convert))
app.command("convert-amr")(user_errors()(convert_amr))
app.command("debug-data", context_settings=CONTEXT)(user_errors()(debug_data))
app.command("parse")(user_errors()(parse))
app.command("parse-corpus")(parse_corpus)
app.command("evaluate")(user_errors()(evaluate))
app.command("calibrate")(user_errors()(calibrate))
app.command("analyze")(user_errors()(analyze))
app.command("refinement")(user_errors()(refinement))
app.command("render")(user_errors()(render))
app.command("serve")(serve)

# spaCy imports the module of a ``spacy_cli`` entry point and expects the module to attach its commands. A
# module is imported once, so the commands are attached once.
spacy_app.add_typer(app)


def register() -> typer.Typer:
    """Return the commands, as entry point. Importing this module has attached them to spaCy's."""
    return app
