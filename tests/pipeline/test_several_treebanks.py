"""`spacy train` on treebanks of several languages, with one encoder from scratch."""

from pathlib import Path

import pytest
import spacy
from spacy.cli.train import train

from ..formats.samples import shared_treebank

pytestmark = pytest.mark.slow

CONFIG = Path(__file__).parents[2] / "configs" / "syntr_scratch.cfg"
TREEBANKS = {
    "english": "UD_English-EWT/en_ewt-ud-dev.conllu",
    "turkish": "UD_Turkish-IMST/tr_imst-ud-dev.conllu",
    "korean": "UD_Korean-GSD/ko_gsd-ud-dev.conllu",
}
TEXTS = ["The girl saw the star.", "Kedi uyudu.", "소녀가 별을 보았다."]


def test_three_languages_share_an_encoder_and_are_scored_one_by_one(tmp_path: Path):
    paths = {name: str(shared_treebank(path)) for name, path in TREEBANKS.items()}
    settings = {
        "nlp.lang": "xx",
        "paths.train": paths,
        "paths.dev": paths,
        "corpora.train.limit": 6,
        "corpora.train.weights": {"korean": 2.0},
        "corpora.dev.limit": 6,
        "training.max_steps": 60,
        "training.eval_frequency": 60,
        "training.dropout": 0.0,
        "training.logger.progress_bar": False,
        "training.optimizer.learn_rate.warmup_steps": 6,
        "training.optimizer.learn_rate.total_steps": 60,
        **{f"training.score_weights.ud_las_{name}": 0.1 for name in TREEBANKS},
    }
    train(CONFIG, tmp_path, overrides=settings)
    nlp = spacy.load(tmp_path / "model-last")
    # The first sentences of each treebank, which it has learned.
    assert min(nlp.meta["performance"][f"ud_las_{name}"] for name in TREEBANKS) > 0.5
    for doc in nlp.pipe(TEXTS):
        assert doc.has_annotation("DEP")
        assert len(list(doc.sents)) == 1
