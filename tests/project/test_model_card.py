"""meta.json and model cards of packages."""

import json

import pytest

from project import model_card, treebank_settings


def score(f1: float) -> dict[str, float]:
    return {"f1": f1}


FACTS = {
    "treebank": {
        "treebank": "UD_Turkish-IMST",
        "tag": "r2.3",
        "license": "CC BY-NC-SA 3.0",
        "commit": "abc",
        "origin": "https://example.org/UD_Turkish-IMST",
        "parts": {"train": [{"file": "/home/me/train.conllu"}]},
    },
    "training": {
        "encoder": "bert-base-chinese",
        "config": "syntr_pretrained.cfg",
        "parser": "/home/me/training/UD_Turkish-IMST/model-best",
        "max_steps": 20,
        "epochs": 0.5,
        "sentences": 40,
        "words": 400,
        "minutes": 1.5,
        "device": "CPU",
        "date": "2026-01-01",
        "versions": {"spacy-g2g": "0.1.0", "PyTorch": "2.13"},
    },
    "exclude_punct": "ud",
}
META = {
    "lang": "tr",
    "name": "g2g",
    "version": "1.0",
    "pipeline": ["g2g_parser"],
    "performance": {"ud_las": 0.5},
    "labels": {"g2g_parser": ["nsubj", "obj"]},
}
SCORES = {
    "dev": {"UAS": score(0.9), "LAS": score(0.8), "CLAS": score(0.7), "UFeats": score(0.3)},
    "test_raw": {"LAS": score(0.75), "Words": score(0.99), "UFeats": score(0.3)},
}


def test_meta_has_scores_licenses_and_facts_of_the_training():
    meta = model_card.complete_meta(META, facts=FACTS, scores=SCORES, size=12_345_678)
    dev = {"dev_uas": 0.9, "dev_las": 0.8, "dev_clas": 0.7}
    raw = {"test_raw_las": 0.75, "test_raw_words": 0.99}
    assert meta["performance"] == {"ud_las": 0.5, **dev, **raw}
    assert meta["license"] == "CC BY-NC-SA 3.0"
    assert {source["name"]: source["license"] for source in meta["sources"]} == {
        "UD_Turkish-IMST r2.3": "CC BY-NC-SA 3.0",
        "bert-base-chinese": "Apache-2.0",
        "spacy-g2g (code)": "MIT",
    }
    assert meta["spacy_g2g"]["training"]["max_steps"] == 20
    assert meta["spacy_g2g"]["training"]["parser"] == "UD_Turkish-IMST"
    assert "/home/me" not in json.dumps(meta)


def test_scores_of_tags_are_those_that_a_component_writes():
    scores = {"dev": {**SCORES["dev"], "UPOS": score(0.0), "XPOS": score(0.6)}}
    for component, expected in (("morphologizer", {"UPOS", "UFeats"}), ("tagger", {"XPOS"})):
        meta = model_card.complete_meta(
            {**META, "pipeline": [component, "g2g_parser"]}, facts=FACTS, scores=scores, size=1
        )
        assert {
            m for m in ("UPOS", "XPOS", "UFeats") if f"dev_{m.lower()}" in meta["performance"]
        } == expected


def test_what_the_treebank_or_the_pipeline_lacks_has_a_dash():
    scores = {"dev": {**SCORES["dev"], "UPOS": score(0.6), "UFeats": {"f1": None}, "Lemmas": score(0.0)}}
    meta = model_card.complete_meta(
        {**META, "pipeline": ["morphologizer", "g2g_parser"]}, facts=FACTS, scores=scores, size=1
    )
    card = model_card.model_card(meta)
    assert "|  | UPOS | XPOS | UFeats | Lemmas | UAS | LAS | CLAS |" in card
    assert "| development set | 60.00 | - | - | - | 90.00 | 80.00 | 70.00 |" in card


def test_only_a_repository_has_a_commit():
    card = model_card.model_card(model_card.complete_meta(META, facts=FACTS, scores=SCORES, size=1))
    assert "| commit of the treebank | abc |" in card
    treebank = {**FACTS["treebank"], "commit": ""}
    card = model_card.model_card(
        model_card.complete_meta(META, facts={**FACTS, "treebank": treebank}, scores=SCORES, size=1)
    )
    assert "commit" not in card


def test_card_names_the_length_of_the_sentences_that_were_timed():
    speed = {key: 7.0 for _, key, *_ in model_card.SPEED} | {"sentence_words": 18.6}
    assert ("a sentence of 19 words, median", "7.0 ms") in model_card.speed_rows(speed)


def test_card_says_what_meta_has():
    card = model_card.model_card(model_card.complete_meta(META, facts=FACTS, scores=SCORES, size=12_345_678))
    for text in (
        "# tr_g2g 1.0",
        "| size on disk | 12.3 MB |",
        "|  | Words | UAS | LAS | CLAS |",
        "| development set | - | 90.00 | 80.00 | 70.00 |",
        "| test set, from text | 99.00 | - | 75.00 | - |",
        "Punctuation that is left out: PUNCT in UPOS.",
        "| steps at most | 20 (0.5 epochs) |",
        "| refines | UD_Turkish-IMST |",
        "Dependency trees, trained on UD_Turkish-IMST r2.3: g2g_parser (12 MB).",
        "| labels | g2g_parser 2 |",
        "| UD_Turkish-IMST r2.3 | CC BY-NC-SA 3.0 |",
    ):
        assert text in card


def test_card_of_an_adapted_pipeline_names_its_base_and_the_scores_before_and_after():
    training = {**FACTS["training"], "parser": "", "base": "mine", "base_license": "CC BY 4.0"}
    las = {"dev": 0.9, "base/dev": 0.8, "old/dev": 0.7, "old_base/dev": 0.75}
    scores = {part: {"LAS": score(f1)} for part, f1 in las.items()}
    card = model_card.model_card(
        model_card.complete_meta(META, facts={**FACTS, "training": training}, scores=scores, size=1)
    )
    for text in (
        "| continued from | mine |",
        "| mine (base) | CC BY 4.0 |",
        "| development set | 90.00 |",
        "| the base: development set | 80.00 |",
        "| old data: development set | 70.00 |",
        "| old data, the base: development set | 75.00 |",
    ):
        assert text in card


def test_card_says_what_each_component_has_learned():
    labels = {"tagger": ["A", "B", "C"], "senter": [], "g2g_parser": ["nsubj"], "rng_refiner": ["nsubj"]}
    pipeline = ["transformer", "senter", "tagger", "trainable_lemmatizer", "g2g_parser", "rng_refiner"]
    meta = model_card.complete_meta(
        {**META, "pipeline": pipeline, "labels": labels}, facts=FACTS, scores={}, size=1
    )
    assert meta["description"].startswith(
        "Sentence boundaries, tags, lemmas, dependency trees, trained on UD_"
    )
    card = model_card.model_card(meta)
    assert "| labels | tagger 3, g2g_parser 1, rng_refiner 1 |" in card


def test_card_of_a_parser_of_amrs_has_smatch():
    facts = {
        **FACTS,
        "treebank": {**FACTS["treebank"], "kind": "amr", "treebank": "little-prince", "tag": ""},
    }
    smatch = {"precision": 0.5, "recall": 0.4, "f1": 0.44}
    scores = {"dev": {"Smatch": smatch, "Concepts": score(0.66)}, "test": {"Smatch": score(0.41)}}
    trained = {**META, "pipeline": ["amr_parser"], "performance": {"smatch_f": 0.44}}
    meta = model_card.complete_meta(trained, facts=facts, scores=scores, size=1)
    measured = {"dev_smatch": 0.44, "dev_concepts": 0.66, "test_smatch": 0.41}
    assert meta["performance"] == {"smatch_f": 0.44, **measured}
    card = model_card.model_card(meta)
    for text in (
        "AMRs, trained on little-prince: amr_parser",
        "Scores are Smatch",
        "|  | Smatch | Concepts |",
        "| development set | 44.00 | 66.00 |",
        "| test set | 41.00 | - |",
        "| AMR corpus | little-prince |",
        "trained on the AMR corpus, whose license",
    ):
        assert text in card


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("training/X/model-best", "X"),
        ("/home/me/mine", "mine"),
        ("en_g2g", "en_g2g"),
        ("model-last", "model-last"),
    ],
)
def test_pipelines_are_named_without_their_folders(path: str, expected: str):
    assert treebank_settings.pipeline_name(path) == expected


def test_card_of_a_pipeline_that_nothing_is_known_of():
    card = model_card.model_card(model_card.complete_meta(META, facts={}, scores={}, size=1))
    assert "none were noted" in card
    assert "nothing was noted" in card
    assert "unknown" in card


def test_a_license_that_a_stranger_wrote_is_no_markup():
    treebank = {**FACTS["treebank"], "license": "MIT <img src=x onerror=a> [b](http://c) `d` |\n# e"}
    card = model_card.model_card(
        model_card.complete_meta(META, facts={**FACTS, "treebank": treebank}, scores={}, size=1)
    )
    (line,) = [line for line in card.splitlines() if "onerror" in line]
    assert line.endswith(r"| MIT \<img src=x onerror=a> \[b\](http://c) \`d\` \| # e |")


def test_a_card_says_who_may_use_the_weights():
    bound = model_card.model_card(model_card.complete_meta(META, facts=FACTS, scores=SCORES, size=1))
    free = {**FACTS, "treebank": {**FACTS["treebank"], "license": "MIT"}}
    anyone = model_card.model_card(model_card.complete_meta(META, facts=free, scores=SCORES, size=1))
    assert "may bind those who use them" in bound
    assert "Anyone may use the weights for anything" in anyone
    unknown = {**free, "training": {**FACTS["training"], "encoder": "some/checkpoint"}}
    assert "Anyone" not in model_card.model_card(
        model_card.complete_meta(META, facts=unknown, scores=SCORES, size=1)
    )
