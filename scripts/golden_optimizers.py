#!/usr/bin/python3
"""Writes tests/golden/optimizers/*.txt: what PyTorch's own optimisers make of 64 weights in 100
steps. Our optimisers are held against these files (src/wide/engine/optimizer_golden_test.cc).

Weights and gradients come from a 64-bit linear congruential generator that the test repeats, so a
file holds only the plan (a job's [train] section) and the weights after a few steps, as the hex
digits of their float32 bits.

    /usr/bin/python3 scripts/golden_optimizers.py      # Debian's python3-torch
"""

import pathlib
import struct

import torch

COUNT = 64
STEPS = 100
SHOWN = (1, 10, 100)

CASES = {
    "sgd": dict(optimizer="sgd", lr=0.1),
    "sgd_decay_clip": dict(optimizer="sgd", lr=0.1, weight_decay=0.01, clip_norm=2.0),
    "momentum": dict(optimizer="sgd", lr=0.05, momentum=0.9),
    "momentum_decay_clip": dict(optimizer="sgd", lr=0.05, momentum=0.9, weight_decay=0.02,
                                clip_norm=3.0),
    "nesterov": dict(optimizer="sgd", lr=0.05, momentum=0.8, nesterov=True, weight_decay=0.001),
    "adam": dict(optimizer="adam", lr=0.01),
    "adam_decay_clip": dict(optimizer="adam", lr=0.02, weight_decay=0.05, clip_norm=1.5,
                            betas=[0.8, 0.99], eps=1e-6),
    "adamw": dict(optimizer="adamw", lr=0.01, weight_decay=0.1),
    "adamw_cosine_clip": dict(optimizer="adamw", lr=0.02, weight_decay=0.05, clip_norm=1.0,
                              schedule="cosine"),
    "nesterov_step_schedule": dict(optimizer="sgd", lr=0.1, momentum=0.9, nesterov=True,
                                   schedule="step", decay_every_steps=30, decay_rate=0.5),
}


class Numbers:
    """Multiples of 2^-23 in [-1, 1), from the upper 24 bits of Knuth's MMIX generator."""

    def __init__(self):
        self.state = 2024

    def take(self, count):
        values = []
        for _ in range(count):
            self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
            values.append((self.state >> 40) / 2**23 - 1)
        return torch.tensor(values, dtype=torch.float32)


def toml(value):
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else str(value)


def make_optimizer(weights, plan):
    lr, decay = plan["lr"], plan.get("weight_decay", 0)
    if plan["optimizer"] == "sgd":
        return torch.optim.SGD([weights], lr=lr, weight_decay=decay,
                               momentum=plan.get("momentum", 0),
                               nesterov=plan.get("nesterov", False))
    kind = torch.optim.Adam if plan["optimizer"] == "adam" else torch.optim.AdamW
    return kind([weights], lr=lr, weight_decay=decay, betas=tuple(plan.get("betas", (0.9, 0.999))),
                eps=plan.get("eps", 1e-8))


def make_schedule(optimizer, plan):
    if plan.get("schedule") == "cosine":
        return torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=STEPS)
    if plan.get("schedule") == "step":
        return torch.optim.lr_scheduler.StepLR(optimizer, plan["decay_every_steps"],
                                               plan["decay_rate"])
    return torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1.0)


def train(plan):
    numbers = Numbers()
    weights = torch.nn.Parameter(numbers.take(COUNT))
    optimizer = make_optimizer(weights, plan)
    schedule = make_schedule(optimizer, plan)
    for step in range(1, STEPS + 1):
        weights.grad = numbers.take(COUNT)
        if plan.get("clip_norm"):
            torch.nn.utils.clip_grad_norm_([weights], plan["clip_norm"])
        optimizer.step()
        schedule.step()
        if step in SHOWN:
            bits = (struct.pack(">f", value).hex() for value in weights.tolist())
            yield f"{step} {' '.join(bits)}\n"


def main():
    folder = pathlib.Path(__file__).parent.parent / "tests" / "golden" / "optimizers"
    folder.mkdir(parents=True, exist_ok=True)
    for name, plan in CASES.items():
        text = "[train]\n" + f"steps = {STEPS}\n"
        text += "".join(f"{key} = {toml(value)}\n" for key, value in plan.items())
        (folder / f"{name}.txt").write_text(text + "---\n" + "".join(train(plan)))


main()
