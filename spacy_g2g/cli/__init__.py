"""Command line ``python -m spacy g2g``: each command is a function with the command's arguments.

From Python, the functions raise errors. The command prints them (``common.user_errors``).
"""

import typer
from spacy.cli._util import app as spacy_app

from .analyze import analyze_cli
from .calibrate import calibrate_cli
from .common import user_errors
from .convert import convert
from .convert_amr import convert_amr
from .debug_data import CONTEXT, debug_data
from .encoders import encoders_cli
from .evaluate import evaluate_cli
from .parse import parse
from .parse_corpus import parse_corpus_cli
from .refinement import refinement_cli
from .render import render_cli
from .serve import serve_cli

HELP = "Graph-to-Graph Transformer parsing: convert treebanks, parse, evaluate, serve."

app = typer.Typer(name="g2g", help=HELP, no_args_is_help=True)
app.command("convert")(user_errors()(convert))
app.command("convert-amr")(user_errors()(convert_amr))
app.command("debug-data", context_settings=CONTEXT)(user_errors()(debug_data))
app.command("encoders")(encoders_cli)
app.command("parse")(user_errors()(parse))
app.command("parse-corpus")(parse_corpus_cli)
app.command("evaluate")(evaluate_cli)
app.command("calibrate")(calibrate_cli)
app.command("analyze")(analyze_cli)
app.command("refinement")(refinement_cli)
app.command("render")(render_cli)
app.command("serve")(serve_cli)

# spaCy imports the module of a ``spacy_cli`` entry point and expects the module to attach its commands. A
# module is imported once, so the commands are attached once.
spacy_app.add_typer(app)


def register() -> typer.Typer:
    """Return the commands, as entry point. Importing this module has attached them to spaCy's."""
    return app
