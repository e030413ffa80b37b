"""Each setting of an architecture has one default, one description and one check, and a row on the page."""

import inspect
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pytest
import spacy
from spacy.util import registry
from thinc.api import ConfigValidationError, Model

from spacy_g2g.amr.models.amr_transformer import AmrTransformerSettings
from spacy_g2g.models.rngtr import RNGTrSettings
from spacy_g2g.models.settings import (
    COUNT,
    FACTOR,
    FROM_ZERO,
    SHARE,
    Settings,
    WordSettings,
    builder,
    describe,
    setting,
    with_default,
)
from spacy_g2g.models.syntr import SynTrSettings
from spacy_g2g.roles.role_network import RoleSettings
from spacy_g2g.transition.models.sent_tr import SentTrSettings
from spacy_g2g.transition.models.stack_transformer import StackTransformerSettings
from spacy_g2g.transition.models.state_tr import StateTrSettings

PAGE = (Path(__file__).parents[2] / "docs" / "config.md").read_text(encoding="utf8")
ARCHITECTURES: dict[str, type[Settings]] = {
    "SynTr": SynTrSettings,
    "RNGTr": RNGTrSettings,
    "RoleNetwork": RoleSettings,
    "SentTr": SentTrSettings,
    "StateTr": StateTrSettings,
    "StackTransformer": StackTransformerSettings,
    "Encoder": WordSettings,
    "AmrStackTransformer": AmrTransformerSettings,
}
ALL = [(name, row) for name, settings in ARCHITECTURES.items() for row in describe(settings)]
OUTSIDE = {
    COUNT: [0, -1],
    FROM_ZERO: [-1, math.nan, math.inf],
    SHARE: [-0.1, 1.0, 2.0, math.nan],
    FACTOR: [0.0, -1.0, math.nan],
}


def build(architecture: str, **settings: Any) -> Model[Any, Any]:
    """A model, made as from a config."""
    block = {"@architectures": f"spacy_g2g.{architecture}.v1", **settings}
    return registry.resolve({"model": block})["model"]


@pytest.mark.parametrize(("architecture", "row"), ALL, ids=[f"{name}-{row[0]}" for name, row in ALL])
def test_every_setting_is_described_checked_and_on_the_page(architecture: str, row: tuple[str, Any, Any]):
    name, hint, metadata = row
    parameter = inspect.signature(registry.get("architectures", f"spacy_g2g.{architecture}.v1")).parameters
    assert parameter[name].default == metadata["default"] == getattr(ARCHITECTURES[architecture](), name)
    assert parameter[name].annotation == hint
    description = metadata["description"]
    assert description[0].isupper() or description.startswith("`")
    assert description.endswith(".")
    section = PAGE.split(f"\n### spacy_g2g.{architecture}.v1\n")[1].split("\n### ")[0]
    (on_page,) = [line for line in section.splitlines() if line.startswith(f"| `{name}` |")]
    assert on_page.endswith(f"| {description} |")
    with pytest.raises(ConfigValidationError, match=name):
        build(architecture, **{name: 3 if name == "tok2vec" else "nonsense"})
    assert (metadata["allowed"] is None) == (hint not in (int, float, int | None, float | None))
    for value in OUTSIDE.get(metadata["allowed"], []):
        with pytest.raises(
            ValueError, match=rf"E408.*{name} is {value}.*number {metadata['allowed'].expected}"
        ):
            ARCHITECTURES[architecture](**{name: value})


def test_all_architectures_and_no_other_settings_are_tested():
    names = {f"spacy_g2g.{name}.v1" for name in ARCHITECTURES}
    registered = {name for name in registry.architectures.get_all() if name.startswith("spacy_g2g.")}
    # Layers, a wrapper of any model, and networks beside a parser, which have no such settings.
    layers = ("Boundaries.v2", "EncoderListener.v1", "RateFactor.v1", "Splitter.v1")
    others = {f"spacy_g2g.{name}" for name in layers}
    assert registered == names | others
    for name, settings in ARCHITECTURES.items():
        function = registry.get("architectures", f"spacy_g2g.{name}.v1")
        assert list(inspect.signature(function).parameters) == [row[0] for row in describe(settings)]


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_an_unknown_setting_is_an_error_that_names_it(architecture: str):
    with pytest.raises(ConfigValidationError, match="arc_wdth"):
        build(architecture, arc_wdth=3)


def test_defaults_are_filled_in_and_own_settings_come_first():
    nlp = spacy.blank("xx")
    nlp.add_pipe("g2g_parser", config={"model": {"arc_width": 8}})
    block = nlp.config["components"]["g2g_parser"]["model"]
    expected = {row[0]: row[2]["default"] for row in describe(SynTrSettings)} | {"arc_width": 8}
    assert block == {"@architectures": "spacy_g2g.SynTr.v1", **expected}
    assert list(expected)[-3:] == [row[0] for row in describe(Settings)]


# Checks


@dataclass(frozen=True, kw_only=True)
class Toy(Settings):
    """Settings of all kinds."""

    count: int | None = setting(1, "Number.", COUNT)
    n: float = setting(0, "Number.", FROM_ZERO)
    share: float = setting(0.0, "Share.", SHARE)
    kind: Literal["a", "b"] | None = setting("a", "Kind.")
    items: list[str] = setting([], "List.")


@dataclass(frozen=True, kw_only=True)
class OtherToy(Toy):
    """Settings with another default."""

    count: int | None = with_default(Toy, "count", 7)


@builder(OtherToy)
def make_toy(settings: OtherToy) -> list[OtherToy]:
    """Make a list of settings."""
    return [settings]


WITHIN = {
    "count": [1, 100, None],
    "n": [0, 9.5],
    "share": [0.0, 0.99],
    "rate_factor": [0.01],
    "kind": ["b", None],
}


@pytest.mark.parametrize("name", WITHIN)
def test_values_within_range_are_kept(name: str):
    for value in WITHIN[name]:
        assert getattr(Toy(**{name: value}), name) == value


@pytest.mark.parametrize(
    ("settings", "width", "scorers", "expected"),
    [
        (SynTrSettings(), 384, False, 0.1),
        (SynTrSettings(), 768, False, 0.0125),
        (SynTrSettings(), 128, False, 1.0),
        (RNGTrSettings(), 384, True, 0.03),
        (RNGTrSettings(), 128, True, 0.3),
        (StackTransformerSettings(), 768, False, 0.05),
        (AmrTransformerSettings(), 768, False, 0.05),
        (SynTrSettings(encoder_rate_factor=0.25), 768, True, 0.25),
    ],
)
def test_the_rate_of_pretrained_weights_follows_the_width(
    settings: Settings, width: int, scorers: bool, expected: float
):
    parts = ("encoder", "task") if scorers else ("encoder",)
    assert settings.pretrained_factor(width, parts) == pytest.approx(expected)


@pytest.mark.parametrize("value", ["c", True, "A"])
def test_a_value_that_is_not_among_the_choices_is_an_error(value: object):
    with pytest.raises(ValueError, match=rf"E411.*kind is {value!r}.*'a', 'b', None"):
        Toy(kind=value)  # type: ignore[arg-type]


def test_another_default_keeps_the_description_and_the_check():
    assert make_toy() == [OtherToy(count=7)]
    assert "count: Number.\n" in (inspect.getdoc(make_toy) or "")
    with pytest.raises(ValueError, match=r"E408.*count is 0.*1 or more"):
        make_toy(count=0)


def test_defaults_that_are_lists_are_not_shared():
    Toy().items.append("x")
    assert Toy().items == []


@pytest.mark.parametrize("architecture", ["StackTransformer", "AmrStackTransformer"])
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"state_heads": ["queue"]}, "E411.*state_heads.*'queue'.*'stack_top2'"),
        ({"state_heads": ["stack"] * 5}, "E417.*4 attention heads"),
        ({"width": 30}, "E204"),
    ],
)
def test_attention_heads_that_do_not_fit_are_an_error(
    architecture: str, settings: dict[str, Any], message: str
):
    with pytest.raises(ValueError, match=message):
        ARCHITECTURES[architecture](**settings)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"output": "both"}, "E411.*output is 'both'.*tokens.*cls"),
        ({"history": "tags"}, "E411.*history is 'tags'.*actions.*labels"),
        ({"history": True}, "E411.*history is True"),
        ({"pooling": "last"}, "E411.*pooling is 'last'.*first.*mean"),
        ({"tag_attr": "DEP"}, "E411.*tag_attr is 'DEP'.*'POS', 'TAG', 'treebank', None"),
    ],
)
def test_choices_of_architectures_are_checked(settings: dict[str, Any], message: str):
    with pytest.raises(ValueError, match=message):
        StateTrSettings(**settings)
