"""Checks of settings name the setting, its value and what was expected."""

import pytest

from spacy_g2g.models.settings import check_choice, check_counts, check_shared_settings


def test_counts_of_one_or_more_and_none_are_right():
    check_counts(a=1, b=100)
    with pytest.raises(ValueError, match=r"E409.*b is 0.*1 or more"):
        check_counts(a=1, b=0)


@pytest.mark.parametrize("share", [0.0, 0.5, 0.99])
def test_shares_from_zero_to_below_one_are_right(share: float):
    check_shared_settings(None, dropout=share, encoder_rate_factor=1.0, unknown_share=share)


@pytest.mark.parametrize("share", [-0.1, 1.0, 2.0, float("nan")])
def test_other_shares_are_an_error(share: float):
    for setting in ("dropout", "unknown_share"):
        shares = {"dropout": 0.0, "unknown_share": 0.0, setting: share}
        with pytest.raises(ValueError, match=rf"E409.*{setting} is {share}"):
            check_shared_settings(None, encoder_rate_factor=1.0, **shares)


@pytest.mark.parametrize("factor", [0.0, -1.0])
def test_rates_are_above_zero(factor: float):
    with pytest.raises(ValueError, match=rf"E409.*encoder_rate_factor is {factor}.*above 0"):
        check_shared_settings(None, dropout=0.0, encoder_rate_factor=factor)


def test_a_value_out_of_several_is_one_of_them():
    check_choice("output", "cls", ("tokens", "cls"))
    check_choice("history", None, ("actions", None))
    with pytest.raises(ValueError, match=r"E412.*output is 'CLS'.*'tokens', 'cls'"):
        check_choice("output", "CLS", ("tokens", "cls"))
