"""AdamW of PyTorch with the settings of Thinc's optimizer, which ``spacy train`` changes over time.

One call updates all parameters of a network. Thinc would make one call for each parameter.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import torch
from thinc.api import Optimizer

from .network import Part, WordNetwork

#: Name of the table of pieces. It is large, and few of its rows get a gradient. So a CPU reuses the gradient.
PIECES = "encoder.embeddings.pieces.weight"


def make_adamw(
    network: WordNetwork, pretrained: Collection[Part], *, pretrained_factor: float, rate_factor: float
) -> torch.optim.AdamW:
    """Return an AdamW for the parameters of a network, without moments.

    network: The network.
    pretrained: Parts of the network whose weights are not random at the start of training.
    pretrained_factor: Learning rate of the pretrained parts as a multiple of that of the other parts.
    rate_factor: Learning rate of the other parts as a multiple of the optimizer's rate.
    """
    groups: dict[tuple[bool, bool, bool], list[torch.nn.Parameter]] = {}
    for name, parameter in network.named_parameters():
        # Biases and norms, which are vectors, have no weight decay.
        key = network.part_of(name) in pretrained, parameter.ndim > 1, name == PIECES
        groups.setdefault(key, []).append(parameter)
    return torch.optim.AdamW(
        [
            {
                "params": parameters,
                "rate_factor": rate_factor * (pretrained_factor if is_pretrained else 1.0),
                "decays": decays,
                "keeps_gradient": is_table and parameters[0].device.type == "cpu",
            }
            for (is_pretrained, decays, is_table), parameters in groups.items()
        ],
        fused=True,
    )


def take_step(adamw: torch.optim.AdamW, optimizer: Optimizer, n_targets: int) -> None:
    """Make one step on mean gradients, with the present settings of Thinc's optimizer.

    The sum of gradients is divided by n_targets, so ``accumulate_gradient`` only saves memory.

    adamw: Optimizer from ``make_adamw``. Clears its gradients. On a CPU, that of the pieces becomes zero.
    optimizer: Thinc's optimizer.
    n_targets: Number of predictions whose losses were summed.
    """
    gradients = []
    for group in adamw.param_groups:
        _copy_settings(optimizer, group)
        gradients += [p.grad for p in group["params"] if p.grad is not None]
    scale = torch.full((), 1.0 / n_targets, device=gradients[0].device)
    if optimizer.grad_clip:
        norm = torch.nn.utils.get_total_norm(gradients)
        scale = torch.minimum(scale, optimizer.grad_clip / norm)
    torch._foreach_mul_(gradients, scale)
    adamw.step()
    for group in adamw.param_groups:
        for p in group["params"]:
            p.grad = p.grad.zero_() if group["keeps_gradient"] and p.grad is not None else None


def _copy_settings(optimizer: Optimizer, group: dict[str, Any]) -> None:
    group["lr"] = float(optimizer.learn_rate) * group["rate_factor"]
    group["betas"] = (float(optimizer.b1), float(optimizer.b2))
    group["eps"] = float(optimizer.eps)
    group["weight_decay"] = float(optimizer.L2) if group["decays"] else 0.0
