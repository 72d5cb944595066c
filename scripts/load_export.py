#!/usr/bin/python3
"""Loads weights that `wide export` wrote into PyTorch and runs held-out samples through them.

    scripts/load_export.py WEIGHTS.safetensors [--samples N] [--script FILE]
        [--images FILE --labels FILE] [--pixels MEAN DEVIATION]      Fashion-MNIST's test set
        [--text FILE --context N] [--tokens FILE --context N]        a text of bytes, or of uint16

A TorchScript model needs --script, the file that it was trained from. A text is cut into samples of
`context` tokens, each followed by its labels, one further on: sample i begins at i · context.

Needs the system's python3-torch, nothing else: the file is parsed here. Prints one JSON object:
    {"accuracy": 0.89, "samples": 1000, "correct": 890, "loss_sum": 312.5, "outputs": [[…], …]}
`outputs` are the first eight rows, for comparison. A text's loss is the mean over its tokens,
summed over the samples; it has no accuracy.
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


class ResnetBlock(nn.Module):
    def __init__(self, before, after, begins):
        super().__init__()
        stride = 2 if begins else 1
        self.conv1 = nn.Conv2d(before, after, 3, stride, 1, bias=False)
        self.norm1 = nn.BatchNorm2d(after)
        self.conv2 = nn.Conv2d(after, after, 3, 1, 1, bias=False)
        self.norm2 = nn.BatchNorm2d(after)
        if begins:
            self.shortcut = nn.Module()
            self.shortcut.conv = nn.Conv2d(before, after, 1, stride, bias=False)
            self.shortcut.norm = nn.BatchNorm2d(after)

    def forward(self, x):
        y = self.norm2(self.conv2(torch.relu(self.norm1(self.conv1(x)))))
        if hasattr(self, "shortcut"):
            x = self.shortcut.norm(self.shortcut.conv(x))
        return torch.relu(x + y)


class Resnet(nn.Module):
    def __init__(self, model):
        super().__init__()
        width = before = model["width"]
        self.stem = nn.Module()
        self.stem.conv = nn.Conv2d(model["sample_shape"][0], width, 3, padding=1, bias=False)
        self.stem.norm = nn.BatchNorm2d(width)
        self.stages = nn.Sequential()
        for stage in range(3):
            blocks = nn.Sequential()
            for i in range((model["depth"] - 2) // 6):
                blocks.append(ResnetBlock(before, width << stage, stage > 0 and i == 0))
                before = width << stage
            self.stages.append(blocks)
        self.head = nn.Linear(before, model["classes"])

    def forward(self, x):
        x = self.stages(torch.relu(self.stem.norm(self.stem.conv(x))))
        return self.head(x.mean((2, 3)))


class GptLayer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.ln_1, self.ln_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attn, self.mlp = nn.Module(), nn.Module()
        self.attn.c_attn, self.attn.c_proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp.c_fc, self.mlp.c_proj = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def attend(self, x):
        batch, places, width = x.shape
        query, key, value = [part.view(batch, places, self.heads, -1).transpose(1, 2)
                             for part in self.attn.c_attn(x).split(width, dim=2)]
        scores = query @ key.transpose(2, 3) / math.sqrt(width // self.heads)
        later = torch.ones(places, places, dtype=torch.bool).triu(1)
        mixed = scores.masked_fill(later, -math.inf).softmax(3) @ value
        return self.attn.c_proj(mixed.transpose(1, 2).reshape(batch, places, width))

    def forward(self, x):
        x = x + self.attend(self.ln_1(x))
        return x + self.mlp.c_proj(nn.functional.gelu(self.mlp.c_fc(self.ln_2(x))))


class Gpt(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.transformer = nn.Module()
        self.transformer.wte = nn.Embedding(model["vocabulary"], model["width"])
        self.transformer.wpe = nn.Embedding(model["context"], model["width"])
        self.transformer.h = nn.Sequential(*[GptLayer(model["width"], model["heads"])
                                             for _ in range(model["layers"])])
        self.transformer.ln_f = nn.LayerNorm(model["width"])
        if not model["tied"]:
            self.lm_head = nn.Linear(model["width"], model["vocabulary"], bias=False)

    def forward(self, tokens):
        x = self.transformer.wte(tokens) + self.transformer.wpe(torch.arange(tokens.shape[1]))
        x = self.transformer.ln_f(self.transformer.h(x))
        head = self.lm_head if hasattr(self, "lm_head") else self.transformer.wte
        return x @ head.weight.T


BUILT_IN = {"mlp": Mlp, "cnn": Cnn, "resnet": Resnet, "gpt": Gpt}


def may_be_missing(model, name, tensors):
    """Counters and masks are not trained; a shared tensor is there once, by its first name."""
    tensor = model.state_dict(keep_vars=True)[name]
    if not tensor.is_floating_point() or not torch.isfinite(tensor).all():
        return True
    return any(tensor is other for key, other in model.state_dict(keep_vars=True).items()
               if key in tensors)


def load_model(path, script):
    tensors, metadata = read_safetensors(path)
    if "model" not in metadata:
        sys.exit(f"{path}: the metadata has no 'model'")
    description = json.loads(metadata["model"])
    if description["kind"] == "torchscript":
        if script is None:
            sys.exit(f"{path}: a TorchScript model: name its file with --script")
        model = torch.jit.load(script, map_location="cpu")
    else:
        model = BUILT_IN[description["kind"]](description)
    missing, unexpected = model.load_state_dict(tensors, strict=False)
    missing = [name for name in missing if not may_be_missing(model, name, tensors)]
    if missing or unexpected:
        sys.exit(f"{path}: missing {missing}, unexpected {unexpected}")
    return model.eval(), description


def read_idx(path):
    """idx: two zero bytes, type, number of dimensions, their extents as big-endian u32, bytes"""
    path = pathlib.Path(path)
    blob = gzip.open(path).read() if path.suffix == ".gz" else path.read_bytes()
    extents = struct.unpack_from(f">{blob[3]}I", blob, 4)
    values = torch.frombuffer(bytearray(blob), dtype=torch.uint8, offset=4 + 4 * blob[3])
    return values.reshape(extents)


def read_images(arguments):
    pixels = read_idx(arguments.images)[:arguments.samples]
    labels = read_idx(arguments.labels)[:arguments.samples].long()
    mean, deviation = arguments.pixels
    return (pixels.float().unsqueeze(1) / 255.0 - mean) / deviation, labels


def read_text(arguments, context):
    path = pathlib.Path(arguments.text or arguments.tokens)
    kind = torch.uint8 if arguments.text else torch.int16
    tokens = torch.frombuffer(bytearray(path.read_bytes()), dtype=kind).long() & 0xFFFF
    count = min(arguments.samples, (len(tokens) - 1) // context)
    end = count * context
    return tokens[:end].view(count, context), tokens[1:end + 1].view(count, context)


def report(outputs, labels):
    is_text = labels.dim() == 2
    scores = outputs.double().reshape(-1, outputs.shape[-1])
    losses = nn.functional.cross_entropy(scores, labels.flatten(), reduction="none")
    found = {"samples": len(labels), "loss_sum": losses.sum().item() / labels[0].numel()}
    if not is_text:
        found["correct"] = int((outputs.argmax(1) == labels).sum())
        found["accuracy"] = found["correct"] / len(labels)
    return found | {"outputs": scores[:OUTPUT_ROWS].tolist()}


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("weights")
    parser.add_argument("--samples", type=int, default=10000)
    parser.add_argument("--script", help="the TorchScript file that the weights are of")
    parser.add_argument("--images", default=DEBIAN_FOLDER / "t10k-images-idx3-ubyte.gz")
    parser.add_argument("--labels", default=DEBIAN_FOLDER / "t10k-labels-idx1-ubyte.gz")
    parser.add_argument("--pixels", type=float, nargs=2, metavar=("MEAN", "DEVIATION"),
                        default=(PIXEL_MEAN, PIXEL_DEVIATION))
    parser.add_argument("--text", help="a file whose bytes are the held-out tokens")
    parser.add_argument("--tokens", help="a file of uint16 that are the held-out tokens")
    parser.add_argument("--context", type=int, help="tokens in a sample (gpt: the model's own)")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    torch.set_num_threads(1)
    model, description = load_model(arguments.weights, arguments.script)
    if arguments.text or arguments.tokens:
        context = arguments.context or description.get("context")
        if context is None:
            sys.exit("--context: how many tokens has a sample?")
        samples, labels = read_text(arguments, context)
    else:
        samples, labels = read_images(arguments)
    batch = 16 if labels.dim() == 2 else 250
    with torch.no_grad():
        outputs = torch.cat([model(part) for part in samples.split(batch)])
    print(json.dumps(report(outputs, labels)))


if __name__ == "__main__":
    main()
