import pytest
import spacy

from spacy_g2g import __version__
from spacy_g2g.training.callbacks import make_package_requirements

MAJOR = int(__version__.split(".")[0])


@pytest.mark.parametrize(
    ("factory", "name"),
    [("amr_parser", "spacy-g2g[amr]"), ("g2g_parser", "spacy-g2g"), ("tagger", "spacy-g2g")],
)
def test_package_needs_the_extras_of_its_components(factory: str, name: str):
    nlp = spacy.blank("xx")
    nlp.add_pipe(factory, name="mine")
    nlp = make_package_requirements()(nlp)
    assert nlp.meta["requirements"] == [f"{name}>={__version__},<{MAJOR + 1}"]


def test_other_requirements_stay_and_ours_is_there_once():
    nlp = spacy.blank("xx")
    nlp.add_pipe("amr_parser")
    nlp.meta["requirements"] = ["other>=1", "spacy-g2g>=0.0.1"]
    callback = make_package_requirements()
    nlp = callback(callback(nlp))
    assert nlp.meta["requirements"] == ["other>=1", f"spacy-g2g[amr]>={__version__},<{MAJOR + 1}"]
