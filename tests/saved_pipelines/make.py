"""Train the small pipelines of this version, and save them for the tests of later versions.

    python -m tests.saved_pipelines.make NAME

NAME is the version. Its folder gets a pipeline of each kind (pipelines.tar.xz), texts of the sample treebank
(texts.txt), and what each pipeline gives for them (KIND.txt). A folder that is there is never changed.
Weights are rounded, so that the archive is small.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from itertools import chain
from pathlib import Path
from typing import Any

import spacy
import torch
from spacy.cli.train import train
from spacy.language import Language
from spacy.pipeline import TrainablePipe
from spacy.util import load_config

from spacy_g2g.formats.conllu import read_conllu
from spacy_g2g.models.network_shim import find_shims
from spacy_g2g.sentences.finder import SentencePipe

from ..amr.util import AMRS
from . import FOLDER, outputs

ROOT = Path(__file__).parents[2]
N_SENTENCES, N_TEXTS, STEPS = 60, 4, 150
ENCODER = {
    "@callbacks": "spacy_g2g.EncoderFromScratch.v1",
    "width": 16,
    "n_layers": 1,
    "n_attention_heads": 2,
}
ENCODER |= {"hidden_width": 32, "n_positions": 128, "vocab_size": 300, "min_frequency": 2}
#: Config of each kind of pipeline.
KINDS = {
    "own": "syntr_scratch",
    "shared": "pipeline_scratch",
    "transition": "state_tr",
    "amr": "test/amr_tiny",
}
#: Sizes in configs that are made smaller, and the sizes that replace them.
SIZES = {
    "arc_width": 16,
    "label_width": 16,
    "context_width": 8,
    "history_width": 8,
    "rows": [100],
    "width": 16,
}
SIZES |= {"hidden_width": 32}


def shrink(section: dict[str, Any]) -> None:
    """Make the sizes of a section of a config smaller, at any depth, and save weights in float16."""
    for name, value in section.items():
        if isinstance(value, dict):
            shrink(value)
        elif name in SIZES and value is not None:
            section[name] = SIZES[name]
        elif name == "half_precision_weights":
            section[name] = True


def small_config(kind: str) -> dict[str, Any]:
    """Return the config of a kind with small sizes and few steps."""
    config = load_config(ROOT / "configs" / f"{KINDS[kind]}.cfg")
    shrink(config["components"])
    for component in config["initialize"]["components"].values():
        component["encoder"] = ENCODER
    if "mwt_splitter" in config["components"]:
        config["components"]["mwt_splitter"]["model"]["width"] = 2
    if "g2g_encoder" in config["components"]:
        config["components"]["g2g_encoder"]["boundaries"]["width"] = 2
    config["nlp"]["lang"] = "en"
    config["training"] |= {"max_steps": STEPS, "eval_frequency": STEPS, "dropout": 0.0}
    config["training"]["optimizer"]["L2"] = 0.0
    rate = {
        "@schedules": "warmup_linear.v1",
        "initial_rate": 0.01,
        "warmup_steps": 5,
        "total_steps": 2 * STEPS,
    }
    config["training"]["optimizer"]["learn_rate"] = rate
    return config


def write_data(folder: Path) -> None:
    """Write the treebank and the AMRs that pipelines learn, and the texts that they parse."""
    sentences = list(read_conllu(ROOT / "assets" / "sample" / "en_sample-ud-train.conllu"))[:N_SENTENCES]
    (folder / "data.conllu").write_text("".join(map(str, sentences)), encoding="utf8")
    amrs = "".join(f"# ::id a.{i}\n# ::snt {text}\n{amr}\n\n" for i, (text, amr) in enumerate(AMRS.items()))
    (folder / "data.amr").write_text(amrs, encoding="utf8")
    lines = [sentence.text for sentence in sentences]
    texts = [" ".join(lines[3 * i : 3 * i + 3]) for i in range(N_TEXTS)]
    (folder / "texts.txt").write_text("\n".join([*texts, *AMRS]) + "\n", encoding="utf8")


def round_weights(nlp: Language) -> None:
    """Round weights to four bits beside the exponent, and those of large tables to their sign."""
    pipes = [pipe for _, pipe in nlp.pipeline if isinstance(pipe, TrainablePipe)]
    models = [pipe.model for pipe in pipes]
    models += [pipe.boundaries for pipe in pipes if isinstance(pipe, SentencePipe) and pipe.boundaries]
    for shim in chain.from_iterable(map(find_shims, models)):
        for parameter in shim.network.parameters():
            if parameter.numel() > 100_000:
                parameter.data = parameter.data.sign() * parameter.data.abs().mean()
                continue
            mantissa, exponent = torch.frexp(parameter.data)
            parameter.data = torch.ldexp((mantissa * 16).round() / 16, exponent)


def make(kind: str, work: Path, made: Path) -> None:
    """Train a pipeline on the data of a folder, and write it and what it gives."""
    small_config(kind).to_disk(work / f"{kind}.cfg", interpolate=False)
    data = str(work / ("data.amr" if kind == "amr" else "data.conllu"))
    train(work / f"{kind}.cfg", work / kind, overrides={"paths.train": data, "paths.dev": data})
    nlp = spacy.load(work / kind / "model-last")
    texts = (work / "texts.txt").read_text(encoding="utf8")
    round_weights(nlp)
    (work / "pipelines").mkdir(exist_ok=True)
    nlp.to_disk(work / "pipelines" / kind)
    given = outputs(spacy.load(work / "pipelines" / kind), texts)
    (made / f"{kind}.txt").write_text(given, encoding="utf8")


def main() -> None:
    """Make the folder of a version."""
    cli = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cli.add_argument("name", help="version, and name of the folder")
    made = FOLDER / cli.parse_args().name
    if made.exists():
        raise SystemExit(f"{made} is there. Pipelines of a version are never changed.")
    with tempfile.TemporaryDirectory() as folder:
        work, new = Path(folder), Path(folder) / "made"
        new.mkdir()
        write_data(work)
        for kind in KINDS:
            make(kind, work, new)
        shutil.make_archive(str(new / "pipelines"), "xztar", work / "pipelines")
        shutil.copyfile(work / "texts.txt", new / "texts.txt")
        shutil.copytree(new, made)


if __name__ == "__main__":
    main()
