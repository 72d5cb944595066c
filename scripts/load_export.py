#!/usr/bin/python3
"""Loads weights that `wide export` wrote into a torch.nn model and runs Fashion-MNIST's test set.

    scripts/load_export.py WEIGHTS.safetensors [--samples N] [--images FILE --labels FILE]

Needs the system's python3-torch, nothing else: the file is parsed here. Prints one JSON object:
    {"accuracy": 0.89, "samples": 1000, "correct": 890, "loss_sum": 312.5, "outputs": [[…], …]}
`outputs` are the first eight rows, for comparison.
"""
import argparse
import gzip
import json
import math
import pathlib
import struct
import sys

import torch
from torch import nn

DEBIAN_FOLDER = pathlib.Path("/usr/share/datasets/fashion-mnist")
PIXEL_MEAN, PIXEL_DEVIATION = 0.2860, 0.3530
OUTPUT_ROWS = 8


def read_safetensors(path):
    """length of the header u64 | JSON header | raw little-endian bytes"""
    blob = pathlib.Path(path).read_bytes()
    (header_bytes,) = struct.unpack_from("<Q", blob)
    header = json.loads(blob[8:8 + header_bytes])
    metadata = header.pop("__metadata__", {})
    tensors = {}
    for name, entry in header.items():
        if entry["dtype"] != "F32":
            sys.exit(f"{path}: {name} has type {entry['dtype']}, not F32")
        first, last = entry["data_offsets"]
        count = math.prod(entry["shape"])
        if last - first != 4 * count:
            sys.exit(f"{path}: {name} has {last - first} bytes for {count} values")
        values = struct.unpack_from(f"<{count}f", blob, 8 + header_bytes + first)
        tensors[name] = torch.tensor(values, dtype=torch.float32).reshape(entry["shape"])
    return tensors, metadata


class Mlp(nn.Module):
    def __init__(self, model):
        super().__init__()
        layers = model["layers"]
        self.count = len(layers) - 1
        for i in range(self.count):
            self.add_module(f"linear{i}", nn.Linear(layers[i], layers[i + 1]))
            if model.get("batch_norm") and i + 1 < self.count:
                self.add_module(f"norm{i}", nn.BatchNorm1d(layers[i + 1]))

    def forward(self, x):
        x = x.flatten(1)
        for i in range(self.count - 1):
            x = getattr(self, f"linear{i}")(x)
            if hasattr(self, f"norm{i}"):
                x = getattr(self, f"norm{i}")(x)
            x = torch.relu(x)
        return getattr(self, f"linear{self.count - 1}")(x)


class Cnn(nn.Module):
    def __init__(self, model):
        super().__init__()
        depth, rows, columns = model["sample_shape"]
        self.count = len(model["channels"])
        for i, channels in enumerate(model["channels"]):
            self.add_module(f"conv{i}", nn.Conv2d(depth, channels, 3, padding=1))
            if model.get("batch_norm"):
                self.add_module(f"norm{i}", nn.BatchNorm2d(channels))
            depth, rows, columns = channels, rows // 2, columns // 2
        self.hidden = nn.Linear(depth * rows * columns, model["hidden"])
        self.output = nn.Linear(model["hidden"], model["classes"])

    def forward(self, x):
        for i in range(self.count):
            x = getattr(self, f"conv{i}")(x)
            if hasattr(self, f"norm{i}"):
                x = getattr(self, f"norm{i}")(x)
            x = nn.functional.max_pool2d(torch.relu(x), 2)
        return self.output(torch.relu(self.hidden(x.flatten(1))))


def load_model(path):
    tensors, metadata = read_safetensors(path)
    if "model" not in metadata:
        sys.exit(f"{path}: the metadata has no 'model'")
    description = json.loads(metadata["model"])
    model = {"mlp": Mlp, "cnn": Cnn}[description["kind"]](description)
    missing, unexpected = model.load_state_dict(tensors, strict=False)
    missing = [name for name in missing if not name.endswith("num_batches_tracked")]
    if missing or unexpected:
        sys.exit(f"{path}: missing {missing}, unexpected {unexpected}")
    return model.eval()


def read_idx(path):
    """idx: two zero bytes, type, number of dimensions, their extents as big-endian u32, bytes"""
    path = pathlib.Path(path)
    blob = gzip.open(path).read() if path.suffix == ".gz" else path.read_bytes()
    extents = struct.unpack_from(f">{blob[3]}I", blob, 4)
    values = torch.frombuffer(bytearray(blob), dtype=torch.uint8, offset=4 + 4 * blob[3])
    return values.reshape(extents)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("weights")
    parser.add_argument("--samples", type=int, default=10000)
    parser.add_argument("--images", default=DEBIAN_FOLDER / "t10k-images-idx3-ubyte.gz")
    parser.add_argument("--labels", default=DEBIAN_FOLDER / "t10k-labels-idx1-ubyte.gz")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    torch.set_num_threads(1)
    model = load_model(arguments.weights)
    pixels = read_idx(arguments.images)[:arguments.samples]
    labels = read_idx(arguments.labels)[:arguments.samples].long()
    samples = (pixels.float().unsqueeze(1) / 255.0 - PIXEL_MEAN) / PIXEL_DEVIATION
    with torch.no_grad():
        outputs = torch.cat([model(part) for part in samples.split(250)])
    correct = int((outputs.argmax(1) == labels).sum())
    loss_sum = nn.functional.cross_entropy(outputs.double(), labels, reduction="sum").item()
    print(json.dumps({"accuracy": correct / len(labels), "samples": len(labels),
                      "correct": correct, "loss_sum": loss_sum,
                      "outputs": outputs[:OUTPUT_ROWS].tolist()}))


if __name__ == "__main__":
    main()
