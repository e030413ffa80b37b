"""The state of a training: what it takes to go on after a stop with the losses that there would have been.

spaCy's loop of training can't start in the middle. So the first steps are repeated without work: their
batches are read, but nothing is updated, evaluated or saved. At the step of the last evaluation, all weights,
moments of optimizers and states of random numbers come back.
"""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import srsly
import torch
from spacy.language import Language
from spacy.training.loop import DIR_MODEL_BEST
from spacy.util import logger as log
from thinc.api import Model, Optimizer, PyTorchShim, Shim

from ..errors import Errors
from ..files import atomic_path
from ..models.network_shim import NetworkShim, find_shims

#: Parts of the folder of a state: the state, and the best pipeline so far.
STATE_FILE, BEST = "state.msgpack", "best-{step}"
#: Sections of a config that may change before a training goes on.
FREE_SECTIONS = ("paths", "system")
#: Values that a Thinc optimizer has for each parameter.
MOMENTS = ("mom1", "mom2", "averages", "nr_update", "last_seen")
Info = dict[str, Any]


class TrainingState:
    """The state of a training, and its copy in a folder.

    nlp: The pipeline, initialized.
    folder: Folder of the copy. If there is one, steps do nothing until they reach it.
    """

    def __init__(self, nlp: Language, folder: Path) -> None:
        self.nlp, self.folder = nlp, folder
        self.optimizer: Optimizer | None = None
        self.evaluations: list[Info] = []
        self.saved: Info | None = None
        self.models = dict(trainable_models(nlp))
        for model in [*self.models.values()][:1]:
            model.shims.append(_OptimizerProbe(self, model))
        if (folder / STATE_FILE).exists():
            self.saved = self._read()
            self._skip_work(self.saved["evaluations"])

    def after_step(self, info: Info | None) -> Info | None:
        """Save or restore the state after a step with an evaluation. Return what the logger is told."""
        if info is None:
            return None
        saved, n = self.saved, len(self.evaluations)
        told = {key: info[key] for key in ("step", "words", "losses", "other_scores")}
        if saved is not None:
            told["losses"] = saved["evaluations"][n]["losses"]
        self.evaluations.append(srsly.msgpack_loads(srsly.msgpack_dumps(told)))
        if saved is not None and n + 1 == len(saved["evaluations"]):
            self._restore(saved, info)
        elif saved is None and info["step"]:
            self._write(info)
        return {**info, "losses": told["losses"]}

    def _skip_work(self, evaluations: list[Info]) -> None:
        """Let the pipeline do nothing in its steps, and return the scores of past evaluations."""
        scores = iter([evaluation["other_scores"] for evaluation in evaluations])

        def make_folder(path: Path) -> None:
            path.mkdir(parents=True, exist_ok=True)

        vars(self.nlp)["update"] = lambda *_, losses, **__: losses
        vars(self.nlp)["evaluate"] = lambda _: next(scores)
        vars(self.nlp)["to_disk"] = make_folder
        log.info("Training goes on after step %d of %s", evaluations[-1]["step"], self.folder / STATE_FILE)

    def _read(self) -> Info:
        path = self.folder / STATE_FILE
        state: Info = srsly.read_msgpack(path)
        config = fixed_sections(self.nlp)
        differing = [name for name in config if config[name] != state["config"].get(name)]
        if differing:
            raise ValueError(Errors.E708.format(path=path, sections=", ".join(f"[{n}]" for n in differing)))
        return state

    def _write(self, info: Info) -> None:
        """Save the state. The copy in the folder is whole at any time."""
        weights = {name: model.to_bytes() for name, model in self.models.items()}
        state = {
            "config": fixed_sections(self.nlp),
            "evaluations": self.evaluations,
            "models": weights,
            "adamw": {name: moments_of(model) for name, model in self.models.items()},
            "optimizer": self._optimizer_values(),
            "random": random_states(),
        }
        self.folder.mkdir(parents=True, exist_ok=True)
        best = self.folder / BEST.format(step=info["step"])
        if "output_path" in info:
            shutil.rmtree(best, ignore_errors=True)
            shutil.copytree(Path(info["output_path"]).with_name(DIR_MODEL_BEST), best, copy_function=_link)
        with atomic_path(self.folder / STATE_FILE) as temporary:
            srsly.write_msgpack(temporary, state)
        for old in self.folder.glob(BEST.format(step="*")):
            if old != best:
                shutil.rmtree(old)

    def _restore(self, saved: Info, info: Info) -> None:
        last = saved["evaluations"][-1]
        is_same_order = random_states()["python"] == saved["random"]["python"]
        if info["words"] != last["words"] or not is_same_order:
            path, step = self.folder / STATE_FILE, last["step"]
            text = Errors.E709
            raise ValueError(text.format(path=path, step=step, found=info["words"], expected=last["words"]))
        for name in ("update", "evaluate", "to_disk"):
            delattr(self.nlp, name)
        for name, model in self.models.items():
            model.from_bytes(saved["models"][name])
            set_moments(model, saved["adamw"][name])
        self._set_optimizer_values(saved["optimizer"])
        best = self.folder / BEST.format(step=last["step"])
        if "output_path" in info and best.exists():
            target = Path(info["output_path"]).with_name(DIR_MODEL_BEST)
            shutil.rmtree(target, ignore_errors=True)
            shutil.copytree(best, target)
        set_random_states(saved["random"])
        self.saved = None

    def _optimizer_values(self) -> Info:
        """Return the values that the optimizer has for each parameter, by the parameter's place."""
        places = {key: place for place, key in parameter_keys(self.models)}
        values: Info = {}
        for kind in MOMENTS:
            table = getattr(self.optimizer, kind, None) or {}
            values[kind] = [[places[key], value] for key, value in table.items() if key in places]
        return values

    def _set_optimizer_values(self, values: Info) -> None:
        keys = dict(parameter_keys(self.models))
        for kind, rows in values.items():
            for place, value in rows:
                is_array = isinstance(value, np.ndarray)
                ops = self.models[place.split("/")[0]].ops
                getattr(self.optimizer, kind)[keys[place]] = ops.xp.array(value) if is_array else value


class _OptimizerProbe(Shim):
    """Finds the optimizer, which spaCy passes to models alone. It is gone after the first step."""

    def __init__(self, state: TrainingState, model: Model[Any, Any]) -> None:
        super().__init__(None)
        self.state, self.probed = state, model

    def finish_update(self, optimizer: Optimizer) -> None:
        self.state.optimizer = optimizer
        self.probed.shims.remove(self)


def trainable_models(nlp: Language) -> Iterator[tuple[str, Model[Any, Any]]]:
    """Yield the models that a pipeline's training changes, with their places, such as tagger.model."""
    frozen = nlp.config["training"]["frozen_components"]
    for name, pipe in nlp.pipeline:
        if name not in frozen and getattr(pipe, "is_trainable", False):
            models = {"model": getattr(pipe, "model", None), **getattr(pipe, "__dict__", {})}
            yield from ((f"{name}.{key}", part) for key, part in models.items() if isinstance(part, Model))


def parameter_keys(models: Mapping[str, Model[Any, Any]]) -> Iterator[tuple[str, tuple[int, str]]]:
    """Yield the place of each parameter, and its key in a Thinc optimizer.

    Keys have numbers that count all layers of a process, and differ in another one.

    models: Models by their places.
    """
    for name, model in models.items():
        for i, node in enumerate(model.walk()):
            owners = [(node.id, list(node.param_names))]
            for shim in node.shims:
                if isinstance(shim, PyTorchShim):
                    owners.append((shim.id, [each for each, _ in shim._model.named_parameters()]))
            for j, (number, names) in enumerate(owners):
                yield from ((f"{name}/{i}/{j}/{each}", (number, each)) for each in names)


def fixed_sections(nlp: Language) -> Info:
    """Return the sections of a pipeline's config that make up its training."""
    config = nlp.config.interpolate()
    training = {name: value for name, value in config["training"].items() if name != "logger"}
    sections = {name: value for name, value in config.items() if name not in FREE_SECTIONS}
    return dict(srsly.json_loads(srsly.json_dumps({**sections, "training": training})))


def trained_shims(model: Model[Any, Any]) -> Iterator[NetworkShim[Any]]:
    """Yield the shims of this library whose networks are initialized: one for boundaries may never be."""
    return (shim for shim in find_shims(model) if shim.spec is not None)


def moments_of(model: Model[Any, Any]) -> list[list[Any]]:
    """Return the moments in a model: numbers of the network and of the parameter, name, array."""
    rows = []
    for n, shim in enumerate(trained_shims(model)):
        for i, state in shim.adamw.state_dict()["state"].items():
            rows += [[n, i, name, value.cpu().numpy()] for name, value in state.items()]
    return rows


def set_moments(model: Model[Any, Any], rows: list[list[Any]]) -> None:
    """Set what ``moments_of`` returned."""
    for n, shim in enumerate(trained_shims(model)):
        state: dict[int, dict[str, Any]] = {i: {} for number, i, *_ in rows if number == n}
        for number, i, name, value in rows:
            if number == n:
                state[i][name] = torch.tensor(value)
        shim.adamw.load_state_dict({**shim.adamw.state_dict(), "state": state})


def random_states() -> Info:
    """Return the states of the random numbers of Python, NumPy and PyTorch."""
    version, numbers, gauss = random.getstate()
    devices = torch.cuda.get_rng_state_all() if torch.cuda.is_available() else []
    return {
        "python": [version, list(numbers), gauss],
        "numpy": list(np.random.get_state()),
        "torch": torch.get_rng_state().numpy(),
        "cuda": [state.numpy() for state in devices],
    }


def set_random_states(states: Info) -> None:
    """Set what ``random_states`` returned."""
    version, numbers, gauss = states["python"]
    random.setstate((version, tuple(numbers), gauss))
    np.random.set_state(tuple(states["numpy"]))
    torch.set_rng_state(torch.tensor(states["torch"]))
    if torch.cuda.is_available() and len(states["cuda"]) == torch.cuda.device_count():
        torch.cuda.set_rng_state_all([torch.tensor(state) for state in states["cuda"]])


def _link(source: str, target: str) -> str:
    """Link a file, or copy it where the file system has no links."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
    return target
