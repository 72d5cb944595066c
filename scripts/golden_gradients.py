#!/usr/bin/python3
"""Writes tests/golden/gradients/*.txt: losses, gradients and running statistics of small models,
computed by Python's PyTorch, for src/wide/train/golden_gradient_test.cc to compare with.

Run it with the system's python3 (python3-torch), from anywhere: scripts/golden_gradients.py

The models are torch.nn's, in double precision, so that the golden values carry no float32 rounding
of their own. Weights and samples are not stored: both sides make them from the same small integer
generator, seeded by the tensor's name, and every such value is exact in float32.

A file is lines of words:
    loss 12.5                    summed over the batch, training mode (several targets: their mean)
    eval_loss 3.25               summed over the held-out samples, evaluation mode
    eval_correct 4
    gradient NAME COUNT v v v …  or: buffer NAME COUNT v v v … (the running statistics afterwards)
"""
import math
import pathlib

import torch
from torch import nn

from export_models import KINDS, make_model

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


def made_up_tokens(name, count, classes):
    state = fnv1a(name)
    tokens = []
    for _ in range(count):
        state = (state * 1664525 + 1013904223) & MASK32
        tokens.append((state >> 16) % classes)
    return tokens


class Images:
    """Values of any shape, each sample with one label."""

    def __init__(self, shape, classes=CLASSES):
        self.shape, self.classes = shape, classes

    def batch(self, kind, indices):
        labels = [fnv1a(f"{kind} label {i}") % self.classes for i in indices]
        return torch.stack([sample(kind, i, self.shape) for i in indices]), torch.tensor(labels)

    def summed_loss(self, outputs, labels):
        return nn.functional.cross_entropy(outputs, labels, reduction="sum")

    def correct(self, outputs, labels):
        return (outputs.argmax(1) == labels).sum().item()


class OneHot(Images):
    def summed_loss(self, outputs, labels):
        targets = nn.functional.one_hot(labels, self.classes).to(outputs.dtype)
        return nn.functional.mse_loss(outputs, targets, reduction="sum")


class Values(Images):
    """Each sample with several values to be met: a sample's loss is the mean over them."""

    def __init__(self, shape, target_count):
        super().__init__(shape)
        self.target_count = target_count

    def batch(self, kind, indices):
        targets = [made_up(f"{kind} target {i}", (self.target_count,), 1.0) for i in indices]
        return torch.stack([sample(kind, i, self.shape) for i in indices]), torch.stack(targets)

    def summed_loss(self, outputs, targets):
        return nn.functional.mse_loss(outputs, targets, reduction="none").mean(1).sum()

    def correct(self, outputs, targets):
        return 0


class Text:
    """Whole numbers, each with the label that follows it: a sample's loss is the mean over them."""

    def __init__(self, context, classes):
        self.context, self.classes = context, classes

    def batch(self, kind, indices):
        return tuple(torch.tensor([made_up_tokens(f"{kind} {word} {i}", self.context, self.classes)
                                   for i in indices]) for word in ("tokens", "labels"))

    def summed_loss(self, outputs, labels):
        losses = nn.functional.cross_entropy(outputs.transpose(1, 2), labels, reduction="none")
        return losses.mean(1).sum()

    def correct(self, outputs, labels):
        return 0


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
    purpose = 0x64726F00 + layer  # below 256 layers
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


class ResnetBlock(nn.Module):
    def __init__(self, before, after, stride, project):
        super().__init__()
        self.conv1 = nn.Conv2d(before, after, 3, stride, 1, bias=False)
        self.norm1 = nn.BatchNorm2d(after)
        self.conv2 = nn.Conv2d(after, after, 3, 1, 1, bias=False)
        self.norm2 = nn.BatchNorm2d(after)
        if project:
            self.shortcut = nn.ModuleDict({"conv": nn.Conv2d(before, after, 1, stride, bias=False),
                                           "norm": nn.BatchNorm2d(after)})

    def forward(self, x):
        y = self.norm2(self.conv2(torch.relu(self.norm1(self.conv1(x)))))
        if hasattr(self, "shortcut"):
            x = self.shortcut["norm"](self.shortcut["conv"](x))
        return torch.relu(x + y)


class Resnet(nn.Module):
    def __init__(self, channels, depth, width):
        super().__init__()
        self.stem = nn.ModuleDict({"conv": nn.Conv2d(channels, width, 3, padding=1, bias=False),
                                   "norm": nn.BatchNorm2d(width)})
        stages = []
        before = width
        for stage in range(3):
            after = width * 2**stage
            blocks = []
            for i in range((depth - 2) // 6):
                begins = stage > 0 and i == 0
                blocks.append(ResnetBlock(before, after, 2 if begins else 1, begins))
                before = after
            stages.append(nn.Sequential(*blocks))
        self.stages = nn.Sequential(*stages)
        self.head = nn.Linear(before, CLASSES)

    def forward(self, x, masks=None):
        x = torch.relu(self.stem["norm"](self.stem["conv"](x)))
        return self.head(nn.functional.adaptive_avg_pool2d(self.stages(x), 1).flatten(1))


class GptLayer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.ln_1 = nn.LayerNorm(width)
        self.attn = nn.ModuleDict({"c_attn": nn.Linear(width, 3 * width),
                                   "c_proj": nn.Linear(width, width)})
        self.ln_2 = nn.LayerNorm(width)
        self.mlp = nn.ModuleDict({"c_fc": nn.Linear(width, 4 * width),
                                  "c_proj": nn.Linear(4 * width, width)})

    def attend(self, x, mask):
        batch, places, width = x.shape
        query, key, value = [part.view(batch, places, self.heads, -1).transpose(1, 2)
                             for part in self.attn["c_attn"](x).split(width, dim=2)]
        scores = query @ key.transpose(2, 3) / math.sqrt(width // self.heads)
        later = torch.ones(places, places, dtype=torch.bool).triu(1)
        weights = scores.masked_fill(later, -math.inf).softmax(3)
        mixed = (weights * mask) @ value
        return self.attn["c_proj"](mixed.transpose(1, 2).reshape(batch, places, width))

    def forward(self, x, masks):
        x = x + self.attend(self.ln_1(x), masks[0]) * masks[1]
        return x + self.mlp["c_proj"](nn.functional.gelu(self.mlp["c_fc"](self.ln_2(x)))) * masks[2]


class Gpt(nn.Module):
    def __init__(self, layers, heads, width, context, vocabulary, tied):
        super().__init__()
        self.transformer = nn.ModuleDict({
            "wte": nn.Embedding(vocabulary, width), "wpe": nn.Embedding(context, width),
            "h": nn.ModuleList([GptLayer(width, heads) for _ in range(layers)]),
            "ln_f": nn.LayerNorm(width)})
        if not tied:
            self.lm_head = nn.Linear(width, vocabulary, bias=False)

    def forward(self, tokens, masks=None):
        layers = self.transformer["h"]
        masks = masks or [1.0] * (1 + 3 * len(layers))
        x = self.transformer["wte"](tokens) + self.transformer["wpe"](torch.arange(tokens.shape[1]))
        x = x * masks[0]
        for i, layer in enumerate(layers):
            x = layer(x, masks[3 * i + 1:3 * i + 4])
        x = self.transformer["ln_f"](x)
        head = self.lm_head if hasattr(self, "lm_head") else self.transformer["wte"]
        return x @ head.weight.T


def around_one(name):
    norm_weight = name.endswith(".weight") and ("norm" in name or "ln_" in name)
    return norm_weight or name.endswith("running_var")


def fill(model):
    """Norm weights and running variances around 1, everything else around 0."""
    with torch.no_grad():
        for name, tensor in model.state_dict().items():
            if not name.endswith("num_batches_tracked"):
                tensor.copy_(made_up(name, tensor.shape, 0.5, 1.0 if around_one(name) else 0.0))


# --- one case, one file ---------------------------------------------------------------------------

def tensor_line(word, name, tensor):
    values = tensor.detach().flatten().tolist()
    return f"{word} {name} {len(values)} " + " ".join(f"{value:.12g}" for value in values)


def write_case(name, model, samples, masks=None, same_sample=False):
    model = model.double()
    fill(model)
    lines = [f"# {name}: PyTorch {torch.__version__}, see scripts/golden_gradients.py"]

    model.eval()
    features, targets = samples.batch("eval", range(EVAL_COUNT))
    outputs = model(features)
    lines.append(f"eval_loss {samples.summed_loss(outputs, targets).item():.12g}")
    lines.append(f"eval_correct {samples.correct(outputs, targets)}")

    model.train()
    features, targets = samples.batch("train", [0] * BATCH if same_sample else range(BATCH))
    outputs = model(features) if masks is None else model(features, masks)
    loss = samples.summed_loss(outputs, targets)
    loss.backward()
    lines.insert(1, f"loss {loss.item():.12g}")
    lines += [tensor_line("gradient", key, value.grad) for key, value in model.named_parameters()]
    lines += [tensor_line("buffer", key, value) for key, value in model.named_buffers()
              if not key.endswith("num_batches_tracked")]
    (FOLDER / f"{name}.txt").write_text("\n".join(lines) + "\n")


def masks_of(shapes):
    step, unit, probability = 7, 1, 0.25
    return [dropout_mask(SEED, step, unit, layer, probability, (BATCH, *shape))
            for layer, shape in enumerate(shapes)]


def write_small_ones():
    flat, image, colour = Images((5,)), Images((1, 8, 8)), Images((2, 9, 9))
    write_case("mlp", Mlp([5, 8, 6, CLASSES], False), flat)
    write_case("mlp_mse", Mlp([5, 8, CLASSES], False), OneHot((5,)))
    write_case("mlp_values", Mlp([5, 8, 4], False), Values((5,), 4))
    write_case("mlp_norm", Mlp([5, 8, 6, CLASSES], True), flat)
    write_case("mlp_of_images", Mlp([64, 4, CLASSES], False), image)
    write_case("cnn", Cnn((1, 8, 8), [2, 3], 5, False), image)
    write_case("cnn_norm", Cnn((2, 9, 9), [3, 4], 5, True), colour)
    # One sample repeated, so that the mask's rows meet the same values in any order of samples.
    write_case("mlp_dropout", Mlp([5, 8, 6, CLASSES], False), flat, masks_of([(8,), (6,)]),
               same_sample=True)
    write_case("cnn_dropout", Cnn((1, 8, 8), [2, 3], 5, False), image, masks_of([(5,)]),
               same_sample=True)


def write_resnets_and_gpts():
    write_case("resnet", Resnet(1, 8, 3), Images((1, 8, 8)))
    write_case("resnet_deep", Resnet(2, 20, 2), Images((2, 9, 7)))
    layers, heads, width, context = 2, 2, 4, 5
    write_case("gpt", Gpt(layers, heads, width, context, 7, True), Text(context, 7))
    write_case("gpt_separate", Gpt(1, 1, width, context, 7, False), Text(context, 5))
    shapes = [(context, width)]
    shapes += layers * [(heads, context, context), (context, width), (context, width)]
    write_case("gpt_dropout", Gpt(layers, heads, width, context, 7, True), Text(context, 7),
               masks_of(shapes), same_sample=True)


def write_scripts():
    pixels = Images((1, 28, 28), 10)
    samples = {"mobile": pixels, "lstm": Text(7, 16), "vit": pixels}
    for kind in KINDS:
        write_case(f"script_{kind}", make_model(kind, dropout=0.0, small=True), samples[kind])


def main():
    torch.set_num_threads(1)
    FOLDER.mkdir(parents=True, exist_ok=True)
    write_small_ones()
    write_resnets_and_gpts()
    write_scripts()


if __name__ == "__main__":
    main()
