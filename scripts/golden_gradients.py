#!/usr/bin/python3
"""Writes tests/golden/gradients/*.txt: losses, gradients and running statistics of small models,
computed by Python's PyTorch, for src/wide/train/golden_gradient_test.cc to compare with.

Run it with the system's python3 (python3-torch), from anywhere: scripts/golden_gradients.py

The models are torch.nn's, in double precision, so that the golden values carry no float32 rounding
of their own. Weights and samples are not stored: both sides make them from the same small integer
generator, seeded by the tensor's name, and every such value is exact in float32.

A file is lines of words:
    loss 12.5                    summed over the batch, training mode
    eval_loss 3.25               summed over the held-out samples, evaluation mode
    eval_correct 4
    gradient NAME COUNT v v v …  or: buffer NAME COUNT v v v … (the running statistics afterwards)
"""
import math
import pathlib

import torch
from torch import nn

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "tests" / "golden" / "gradients"
BATCH = 6
EVAL_COUNT = 9
CLASSES = 3
SEED = 42
MASK32 = 0xFFFFFFFF


# --- numbers that both sides can make -------------------------------------------------------------

def fnv1a(text):
    value = 0x811C9DC5
    for byte in text.encode():
        value = ((value ^ byte) * 0x01000193) & MASK32
    return value


def made_up(name, shape, scale, around=0.0):
    """Values in [around - scale, around + scale), multiples of scale / 2^15: exact in float32."""
    state = fnv1a(name)
    values = []
    for _ in range(math.prod(shape)):
        state = (state * 1664525 + 1013904223) & MASK32
        values.append(around + ((state >> 16) - 32768) / 32768 * scale)
    return torch.tensor(values, dtype=torch.float64).reshape(shape)


def sample(kind, index, shape):
    return made_up(f"{kind}{index}", shape, 2.0)


def label(kind, index):
    return fnv1a(f"{kind} label {index}") % CLASSES


def batch_of(kind, indices, shape):
    return (torch.stack([sample(kind, i, shape) for i in indices]),
            torch.tensor([label(kind, i) for i in indices]))


# --- Philox4x32-10, as in Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" ------------

def philox(counter, key):
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(10):
        product0, product1 = 0xD2511F53 * c0, 0xCD9E8D57 * c2
        c0, c1, c2, c3 = ((product1 >> 32) ^ c1 ^ k0, product1 & MASK32,
                          (product0 >> 32) ^ c3 ^ k1, product0 & MASK32)
        k0, k1 = (k0 + 0x9E3779B9) & MASK32, (k1 + 0xBB67AE85) & MASK32
    return c0, c1, c2, c3


def dropout_mask(seed, step, unit, layer, probability, shape):
    purpose = 0x64726F00 + layer
    key = philox((purpose, 0, 0, 0), (seed & MASK32, seed >> 32))[:2]
    words = []
    while len(words) < math.prod(shape):
        words.extend(philox((len(words) // 4, step & MASK32, step >> 32, unit), key))
    kept = [1.0 / (1.0 - probability) if (word >> 8) / 2.0**24 >= probability else 0.0
            for word in words[:math.prod(shape)]]
    return torch.tensor(kept, dtype=torch.float64).reshape(shape)


# --- the models -----------------------------------------------------------------------------------

class Mlp(nn.Module):
    def __init__(self, layers, batch_norm):
        super().__init__()
        self.count = len(layers) - 1
        for i in range(self.count):
            setattr(self, f"linear{i}", nn.Linear(layers[i], layers[i + 1]))
            if batch_norm and i + 1 < self.count:
                setattr(self, f"norm{i}", nn.BatchNorm1d(layers[i + 1]))

    def forward(self, x, masks=None):
        x = x.flatten(1)
        for i in range(self.count - 1):
            x = getattr(self, f"linear{i}")(x)
            if hasattr(self, f"norm{i}"):
                x = getattr(self, f"norm{i}")(x)
            x = torch.relu(x)
            if masks is not None:
                x = x * masks[i]
        return getattr(self, f"linear{self.count - 1}")(x)


class Cnn(nn.Module):
    def __init__(self, shape, channels, hidden, batch_norm):
        super().__init__()
        self.count = len(channels)
        before, rows, columns = shape
        for i, after in enumerate(channels):
            setattr(self, f"conv{i}", nn.Conv2d(before, after, 3, padding=1))
            if batch_norm:
                setattr(self, f"norm{i}", nn.BatchNorm2d(after))
            before, rows, columns = after, rows // 2, columns // 2
        self.hidden = nn.Linear(before * rows * columns, hidden)
        self.output = nn.Linear(hidden, CLASSES)

    def forward(self, x, masks=None):
        for i in range(self.count):
            x = getattr(self, f"conv{i}")(x)
            if hasattr(self, f"norm{i}"):
                x = getattr(self, f"norm{i}")(x)
            x = nn.functional.max_pool2d(torch.relu(x), 2)
        x = torch.relu(self.hidden(x.flatten(1)))
        if masks is not None:
            x = x * masks[0]
        return self.output(x)


def fill(model):
    """Norm weights and running variances around 1, everything else around 0."""
    with torch.no_grad():
        for name, tensor in model.state_dict().items():
            if name.endswith("num_batches_tracked"):
                continue
            around = 1.0 if name.endswith("running_var") or (
                name.startswith("norm") and name.endswith("weight")) else 0.0
            tensor.copy_(made_up(name, tensor.shape, 0.5, around))


# --- one case, one file ---------------------------------------------------------------------------

def summed_loss(kind, outputs, labels):
    if kind == "mse":
        targets = nn.functional.one_hot(labels, CLASSES).to(outputs.dtype)
        return nn.functional.mse_loss(outputs, targets, reduction="sum")
    return nn.functional.cross_entropy(outputs, labels, reduction="sum")


def tensor_line(word, name, tensor):
    values = tensor.detach().flatten().tolist()
    return f"{word} {name} {len(values)} " + " ".join(f"{value:.12g}" for value in values)


def write_case(name, model, shape, masks=None, loss_kind="cross-entropy", same_sample=False):
    model = model.double()
    fill(model)
    lines = [f"# {name}: PyTorch {torch.__version__}, see scripts/golden_gradients.py"]

    model.eval()
    features, labels = batch_of("eval", range(EVAL_COUNT), shape)
    outputs = model(features)
    lines.append(f"eval_loss {summed_loss(loss_kind, outputs, labels).item():.12g}")
    lines.append(f"eval_correct {(outputs.argmax(1) == labels).sum().item()}")

    model.train()
    indices = [0] * BATCH if same_sample else range(BATCH)
    features, labels = batch_of("train", indices, shape)
    loss = summed_loss(loss_kind, model(features, masks), labels)
    loss.backward()
    lines.insert(1, f"loss {loss.item():.12g}")
    lines += [tensor_line("gradient", key, value.grad) for key, value in model.named_parameters()]
    lines += [tensor_line("buffer", key, value) for key, value in model.named_buffers()
              if not key.endswith("num_batches_tracked")]
    (FOLDER / f"{name}.txt").write_text("\n".join(lines) + "\n")


def main():
    torch.set_num_threads(1)
    FOLDER.mkdir(parents=True, exist_ok=True)
    flat, image, colour = (5,), (1, 8, 8), (2, 9, 9)
    write_case("mlp", Mlp([5, 8, 6, CLASSES], False), flat)
    write_case("mlp_mse", Mlp([5, 8, CLASSES], False), flat, loss_kind="mse")
    write_case("mlp_norm", Mlp([5, 8, 6, CLASSES], True), flat)
    write_case("mlp_of_images", Mlp([64, 4, CLASSES], False), image)
    write_case("cnn", Cnn(image, [2, 3], 5, False), image)
    write_case("cnn_norm", Cnn(colour, [3, 4], 5, True), colour)
    # One sample repeated, so that the mask's rows meet the same values in any order of samples.
    step, unit, probability = 7, 1, 0.25
    masks = [dropout_mask(SEED, step, unit, layer, probability, (BATCH, width))
             for layer, width in enumerate([8, 6])]
    write_case("mlp_dropout", Mlp([5, 8, 6, CLASSES], False), flat, masks, same_sample=True)
    masks = [dropout_mask(SEED, step, unit, 0, probability, (BATCH, 5))]
    write_case("cnn_dropout", Cnn(image, [2, 3], 5, False), image, masks, same_sample=True)


if __name__ == "__main__":
    main()
