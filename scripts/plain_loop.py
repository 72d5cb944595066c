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


def loop(job, model_file, processes, seconds, start, counts):
    import torch
    torch.set_num_threads(1)
    torch.manual_seed(1)
    model, shape = build(job, model_file)
    model.train()
    train = job["train"]
    batch = train.get("batch", 32)
    units = max(1, train.get("units_per_step", 10) // processes)
    if isinstance(shape, int):
        inputs = torch.randint(0, 256, (batch, shape))
        labels = torch.randint(0, 256, (batch * shape,))
    else:
        inputs = torch.randn(batch, *shape)
        if len(shape) == 3:
            inputs = inputs.contiguous(memory_format=torch.channels_last)
            model = model.to(memory_format=torch.channels_last)
        labels = torch.randint(0, 10, (batch,))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    done = 0
    start.wait()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        optimizer.zero_grad()
        for _ in range(units):
            outputs = model(inputs)
            torch.nn.functional.cross_entropy(outputs.reshape(len(labels), -1), labels).backward()
            done += batch
        optimizer.step()
    counts.put(done / seconds)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("job")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--model", default="")
    options = parser.parse_args()
    with open(options.job, "rb") as file:
        job = tomllib.load(file)
    start, counts = multiprocessing.Barrier(options.processes), multiprocessing.Queue()
    workers = [multiprocessing.Process(target=loop, args=(job, options.model, options.processes,
                                                          options.seconds, start, counts))
               for _ in range(options.processes)]
    for worker in workers:
        worker.start()
    rates = [counts.get() for _ in workers]
    for worker in workers:
        worker.join()
    print(json.dumps({"job": options.job, "processes": options.processes,
                      "samples_per_second": sum(rates)}))


if __name__ == "__main__":
    main()
