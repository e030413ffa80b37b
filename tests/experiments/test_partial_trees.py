from pathlib import Path

import numpy as np

from experiments.partial_trees import write_part
from spacy_g2g.formats.conllu import read_conllu

SAMPLE = Path(__file__).parents[2] / "assets" / "sample" / "en_sample-ud-dev.conllu"


def test_a_part_has_the_heads_and_labels_of_the_words_with_the_least_keys(tmp_path: Path):
    sentences = list(read_conllu(SAMPLE))[:5]
    n_words = sum(len(sentence.words) for sentence in sentences)
    keys = np.random.default_rng(0).permutation(n_words)
    write_part(sentences, keys, 0.25, tmp_path / "part.conllu")
    words = [
        word for sentence in read_conllu(tmp_path / "part.conllu", trees="any") for word in sentence.words
    ]
    gold = [word for sentence in sentences for word in sentence.words]
    for word, of_gold, key in zip(words, gold, keys.tolist(), strict=True):
        expected = (of_gold.head, of_gold.deprel) if key < round(n_words / 4) else (None, "_")
        assert (word.head, word.deprel) == expected
