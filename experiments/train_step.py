"""Where the time of a training step goes: forward, backward, optimizer, and Python (ours and spaCy's).

python -m experiments.train_step CONFIG TRAIN [--steps 30] [--threads 2] [--override KEY=VALUE ...]
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import torch
from spacy import util
from spacy.training.initialize import init_nlp
from spacy.util import registry

from spacy_g2g.models.shim import get_shim

from .stopwatch import Stopwatch


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("config", type=Path)
    parser.add_argument("train", type=Path)
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--override", nargs="*", default=[], metavar="KEY=VALUE")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    overrides: dict[str, Any] = {"paths.train": str(args.train), "paths.dev": str(args.train)}
    for override in args.override:
        key, value = override.split("=", 1)
        overrides[key] = json.loads(value) if value[:1] in "0123456789[{-" else value
    print(json.dumps(measure(util.load_config(args.config, overrides=overrides), args.steps), indent=2))


def measure(config: Any, steps: int) -> dict[str, float]:
    """Seconds a step and the share of each part, over ``steps`` steps after three that are not counted."""
    nlp = init_nlp(config)
    resolved = registry.resolve(nlp.config.interpolate()["training"], validate=False)
    examples = list(registry.resolve(nlp.config.interpolate()["corpora"])["train"](nlp))[: steps * 60]
    batches = list(resolved["batcher"](examples))[: steps + 3]
    optimizer = resolved["optimizer"]
    shim = get_shim(nlp.get_pipe("g2g_parser").model)
    stopwatch = Stopwatch()
    spent, timed = stopwatch.spent, stopwatch.timed

    shim.network.loss = timed("forward", shim.network.loss)  # type: ignore[method-assign]
    torch.autograd.backward = timed("backward", torch.autograd.backward)
    shim.finish_update = timed("optimizer", shim.finish_update)  # type: ignore[method-assign]
    start = 0.0
    for i, batch in enumerate(batches):
        if i == 3:
            spent.clear()
            start = time.perf_counter()
        nlp.update(batch, drop=0.1, sgd=optimizer)
        optimizer.step_schedules()
    total = time.perf_counter() - start
    shares = {name: seconds / total for name, seconds in spent.items()}
    shares["python"] = 1.0 - sum(shares.values())
    return {"steps": len(batches) - 3, "seconds_a_step": total / (len(batches) - 3), **shares}


if __name__ == "__main__":
    main()
