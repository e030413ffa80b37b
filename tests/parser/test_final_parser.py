"""One call finds the component whose trees Docs have in the end."""

import pytest
import spacy

import spacy_g2g
from spacy_g2g import final_parser
from spacy_g2g.scored.doc_constraints import constrain

from ..util import add_tiny, make_nlp


def test_it_is_the_last_component_that_is_enabled_and_keeps_scores_on_demand():
    nlp = make_nlp()
    add_tiny(nlp, "rng_refiner")
    refiner = final_parser(nlp)
    assert (refiner.name, refiner.keep_scores) == ("rng_refiner", False)
    with nlp.select_pipes(disable="rng_refiner"):
        parser = final_parser(nlp, keep_scores=True)
    assert (parser.name, parser.keep_scores, refiner.keep_scores) == ("g2g_parser", True, False)


def test_a_pipeline_that_can_not_be_asked_is_an_error():
    nlp = spacy.blank("xx")
    nlp.add_pipe("sentencizer")
    with pytest.raises(ValueError, match=r"E840.*sentencizer"):
        final_parser(nlp)
    nlp = make_nlp(row="SentTr")
    assert final_parser(nlp).name == "g2g_parser"
    with pytest.raises(ValueError, match="E814"):
        final_parser(nlp, keep_scores=True)


def test_functions_for_users_are_there_by_name():
    assert spacy_g2g.constrain is constrain
    with pytest.raises(AttributeError, match="'spacy_g2g' has no attribute 'final_parse'"):
        _ = spacy_g2g.final_parse
