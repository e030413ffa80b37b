"""The engine "ray": Ray Data hands shards to actors that hold the pipeline, and restarts dead actors.

Ray schedules; ``parse_shard`` reads and writes. By default, Ray Data restarts dead actors without limit. The
journal limits how many actors a shard can kill.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import ray
import ray.data
import ray.exceptions

from .job import Job
from .plan import Part, Shard
from .run import load_pipeline
from .shard import Record, parse_shard

#: Maximum number of Ray's tasks. If there are more shards, a task has several.
MAX_TASKS = 5000
MAX_STARTS = 3
#: Settings of Ray, unless the environment has others: Ray sends no statistics, and workers keep our niceness.
ENVIRONMENT = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_worker_niceness": "0"}
#: Loggers that warn about Ray's own defaults.
NOISY = ("ray.data", "ray._private.authentication.authentication_token_setup")
WORKERS_PER_GPU = 4
#: Cores beside those of workers, for Ray's own tasks.
SPARE_CORES = 1


class ParsingActor:
    """Actor that loads the pipeline once and parses shards."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.nlp = load_pipeline(job)

    def __call__(self, batch: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Yield the record of each shard of a batch, as JSON."""
        for text in batch["shard"]:
            shard = json.loads(text)
            parts = tuple(Part(**part) for part in shard["parts"])
            record = parse_shard(self.nlp, Shard(shard["name"], parts), self.job)
            yield {"record": [json.dumps(record)]}


@dataclass(frozen=True)
class RayEngine:
    """Parser of shards on the cores and GPUs of a machine or a cluster.

    workers: Number of actors; None for as many as fit.
    cpus: Cores of an actor.
    gpus: Share of a GPU of an actor; None for a quarter if there are GPUs.
    address: Address of a running cluster; None starts Ray on this machine.
    """

    workers: int | None = None
    cpus: float = 1.0
    gpus: float | None = None
    address: str | None = None

    def __call__(self, shards: Sequence[Shard], job: Job) -> Iterator[Record]:
        """Yield the records of shards as they are done, in any order."""
        here = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        cores = self.workers * self.cpus if self.workers else here
        start_ray(self.address, int(cores) + SPARE_CORES)
        total = ray.cluster_resources()
        gpus = self.gpus if self.gpus is not None else bool(total.get("GPU")) / WORKERS_PER_GPU
        max_workers = (total["CPU"] - (0 if self.address else SPARE_CORES)) / self.cpus
        if gpus:
            max_workers = min(max_workers, total.get("GPU", 0) / gpus)
        workers = min(self.workers or max(1, int(max_workers)), len(shards))
        context = ray.data.DataContext.get_current()
        context.enable_progress_bars = False
        context.execution_options.preserve_order = False
        items = [{"shard": json.dumps(asdict(shard))} for shard in shards]
        # Ray shows each worker its own GPU as number 0.
        own_job = replace(job, gpu_id=0 if gpus else -1)
        records = ray.data.from_items(items, override_num_blocks=min(len(items), MAX_TASKS)).map_batches(
            ParsingActor,
            batch_size=1,
            batch_format="numpy",
            fn_constructor_args=(own_job,),
            compute=ray.data.ActorPoolStrategy(size=workers),
            num_cpus=self.cpus,
            num_gpus=gpus,
        )
        try:
            for batch in records.iter_batches(batch_size=1, prefetch_batches=0):
                yield from map(json.loads, batch["record"])
        except ray.exceptions.RayTaskError as error:
            raise error.cause from error


def start_ray(address: str | None, cpus: int) -> None:
    """Connect to a cluster, or start Ray here if it does not run. A busy machine may need several tries."""
    for name in NOISY:
        logging.getLogger(name).setLevel(logging.ERROR)
    if ray.is_initialized():
        return
    for name, value in ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    own: dict[str, Any] = {} if address else {"include_dashboard": False, "num_cpus": cpus}
    for attempt in range(1, MAX_STARTS + 1):
        try:
            ray.init(address=address, log_to_driver=False, logging_level=logging.WARNING, **own)
        except Exception:
            ray.shutdown()
            if attempt == MAX_STARTS:
                raise
        else:
            return
