"""What tests of the commands of `analysis` share."""

from typer.testing import CliRunner

from spacy_g2g.cli import app


def run(*arguments: object, status: int = 0) -> str:
    """Run a command, check its exit status, and return what it prints."""
    result = CliRunner().invoke(app, [*map(str, arguments)])
    assert result.exit_code == status, result.output
    return result.output


def first_cells(printed: str) -> dict[str, list[str]]:
    """The further words of each printed line, by its first word."""
    rows = [line.split() for line in printed.splitlines() if line.strip()]
    return {row[0]: row[1:] for row in rows}
