#!/usr/bin/python3
"""The same model, data shape and batch as a job, trained by a plain PyTorch loop with no pool.

    scripts/plain_loop.py JOB.toml [--processes 2] [--seconds 8] [--model FILE]

Each process has one thread, its own model and its own samples (made up, in memory: the loop never
waits for a disk), and steps its optimiser after its part of the job's units. Prints samples per
second of all processes together: what the machine does with no network, no ledger and no exactness.
"""
import argparse
import json
import multiprocessing
import os
import sys
import time
import tomllib

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))


def build(job, model_file):
    import torch
    from load_export import Cnn, Gpt, Mlp, Resnet
    model = dict(job["model"])
    kind = model["kind"]
    image = {"sample_shape": [1, 28, 28], "classes": 10}
    if kind == "torchscript":
        return torch.jit.load(model_file), (1, 28, 28)
    if kind == "gpt":
        defaults = {"vocabulary": 256, "tied": True, "heads": 4, "width": 128, "layers": 4}
        return Gpt({**defaults, **model}), model.get("context", 128)
    if kind == "resnet":
        return Resnet({"width": 16, "depth": 20, **model, **image}), (1, 28, 28)
    if kind == "cnn":
        return Cnn({"hidden": 128, "channels": [16, 32], **model, **image}), (1, 28, 28)
    return Mlp(model), (model["layers"][0],)


def samples(shape, batch):
    """(inputs, labels): of a text where the shape is a number, its context."""
    import torch
    if isinstance(shape, int):
        return torch.randint(0, 256, (batch, shape)), torch.randint(0, 256, (batch * shape,))
    inputs = torch.randn(batch, *shape)
    if len(shape) == 3:
        inputs = inputs.contiguous(memory_format=torch.channels_last)
    return inputs, torch.randint(0, 10, (batch,))


def step(model, optimizer, inputs, labels, units):
    import torch
    optimizer.zero_grad()
    for _ in range(units):
        outputs = model(inputs)
        torch.nn.functional.cross_entropy(outputs.reshape(len(labels), -1), labels).backward()
    optimizer.step()


def loop(job, model_file, processes, seconds, start, rates):
    import torch
    torch.set_num_threads(1)
    torch.manual_seed(1)
    model, shape = build(job, model_file)
    model.train()
    train = job["train"]
    batch = train.get("batch", 32)
    units = max(1, train.get("units_per_step", 10) // processes)
    inputs, labels = samples(shape, batch)
    if inputs.dim() == 4:
        model = model.to(memory_format=torch.channels_last)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    step(model, optimizer, inputs, labels, units)  # the first one allocates, and makes Adam's state
    done = 0
    start.wait()
    began = time.monotonic()
    while time.monotonic() < began + seconds:
        step(model, optimizer, inputs, labels, units)
        done += units * batch
    rates.put(done / (time.monotonic() - began))  # the last step ends later than it was asked to


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("job")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--model", default="")
    options = parser.parse_args()
    with open(options.job, "rb") as file:
        job = tomllib.load(file)
    start, queue = multiprocessing.Barrier(options.processes), multiprocessing.Queue()
    workers = [multiprocessing.Process(target=loop, args=(job, options.model, options.processes,
                                                          options.seconds, start, queue))
               for _ in range(options.processes)]
    for worker in workers:
        worker.start()
    rates = [queue.get() for _ in workers]
    for worker in workers:
        worker.join()
    print(json.dumps({"job": options.job, "processes": options.processes,
                      "samples_per_second": sum(rates)}))


if __name__ == "__main__":
    main()
