"""What the pages tell readers to run is there: scripts, commands, options, settings, targets."""

from pathlib import Path

import pytest

from .page_commands import ROOT, pages, problems

PAGE = """
Run `python -m project.timing PIPELINE FILE --disable tagger`, `OMP_NUM_THREADS=1 g2g parse --gone`,
`make_once`, `make nothing` or `make.py`. `experiments/speed.py` is there, `experiments/gone.py` is not.

```bash
# script: python -m experiments.gone
OMP_NUM_THREADS=1 python -m experiments.speed DEV PIPELINE ... \\
    --sentences many   # "don't"
(cd OUT && python -m spacy g2g missing) > file
python -m spacy train configs/pipeline.cfg --training.max_steps 1 --training.maximum 2 --paths.train x
python -m spacy train own.cfg --components.g2g_parser.gone 1
python -m spacy project run nothing .
python -m spacy project run demo . --vars.gone 1 --vars.gpu 0
python -m project.train TRAIN DEV OUTPUT --config configs/pipeline.cfg --training.maximum 2
python docs/config_reference.py --gone
python -m stanza.models.tagger --anything
make demo
```

The script is at commit 0123456.
"""
EXPECTED = """
2: g2g parse --gone: there is no option --gone
3: make has no target nothing
3: there is no file experiments/gone.py
6: there is no script experiments/gone.py
7: experiments/speed.py DEV PIPELINE ... --sentences many: argument --sentences: invalid int value: 'many'
9: spaCy has no command g2g missing
10: configs/pipeline.cfg has no setting training.maximum
11: own.cfg has no setting components.g2g_parser.gone
12: project.yml has no workflow or step nothing
13: project.yml has no variable gone
14: configs/pipeline.cfg has no setting training.maximum
15: docs/config_reference.py has no option --gone
20: 'at commit 0123456' belongs on the page of history
"""


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.relative_to(ROOT).as_posix())
def test_commands_and_scripts_of_a_page_are_there(page: Path):
    assert not problems(page)


def test_each_command_that_is_not_there_is_found(tmp_path: Path):
    page = tmp_path / "page.md"
    page.write_text(PAGE, encoding="utf8")
    assert [problem.partition("page.md:")[2] for problem in problems(page)] == EXPECTED.strip().splitlines()
