#!/usr/bin/python3
"""Writes TorchScript files of three architectures that the pool does not know: plain PyTorch, as
anybody would write it, scripted and saved.

    scripts/export_models.py mobile|lstm|vit FILE [--seed N] [--dropout P] [--small]
    scripts/export_models.py all FOLDER …         FOLDER/mobile.pt, FOLDER/lstm.pt, FOLDER/vit.pt

    mobile   inverted residuals with depthwise convolutions, for 1×28×28 images in ten classes
    lstm     a language model on bytes: embedding, two layers of LSTM, linear
    vit      a vision transformer on 4×4 patches of seven pixels, for the same images

Run it with the system's python3 (python3-torch). The same command gives the same bytes on the same
machine. --small: a few thousand weights, for tests (lstm: a vocabulary of 16).
"""
import argparse
import io
import os
import pathlib
import sys

if __name__ == "__main__" and os.environ.get("PYTHONHASHSEED") != "0":
    # torch.jit writes some names in the order of their hashes: start again where that is one order.
    os.environ["PYTHONHASHSEED"] = "0"
    os.execv(sys.executable, [sys.executable, *sys.argv])

import torch
from torch import nn

CLASSES = 10


# --- a mobile network (Sandler et al. 2018, MobileNetV2) ------------------------------------------

class ConvNorm(nn.Module):
    def __init__(self, before, after, size, stride=1, groups=1, active=True):
        super().__init__()
        self.conv = nn.Conv2d(before, after, size, stride, size // 2, groups=groups, bias=False)
        self.norm = nn.BatchNorm2d(after)
        self.active = active

    def forward(self, x):
        x = self.norm(self.conv(x))
        return nn.functional.relu6(x) if self.active else x


class InvertedResidual(nn.Module):
    def __init__(self, before, after, stride, expansion):
        super().__init__()
        inner = before * expansion
        self.expand = ConvNorm(before, inner, 1)
        self.depthwise = ConvNorm(inner, inner, 3, stride, groups=inner)
        self.project = ConvNorm(inner, after, 1, active=False)
        self.keeps = stride == 1 and before == after

    def forward(self, x):
        y = self.project(self.depthwise(self.expand(x)))
        return x + y if self.keeps else y


class Mobile(nn.Module):
    """blocks: (channels, stride) of each, behind a stem of `width` channels."""

    def __init__(self, width, blocks, expansion, dropout):
        super().__init__()
        self.stem = ConvNorm(1, width, 3)
        layers = []
        before = width
        for after, stride in blocks:
            layers.append(InvertedResidual(before, after, stride, expansion))
            before = after
        self.blocks = nn.Sequential(*layers)
        self.dropout = nn.Dropout(dropout)
        self.head = nn.Linear(before, CLASSES)

    def forward(self, x):
        x = self.blocks(self.stem(x)).mean((2, 3))
        return self.head(self.dropout(x))


# --- an LSTM language model -----------------------------------------------------------------------

class LstmText(nn.Module):
    def __init__(self, vocabulary, width, dropout):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.lstm = nn.LSTM(width, width, num_layers=2, batch_first=True, dropout=dropout)
        self.dropout = nn.Dropout(dropout)
        self.head = nn.Linear(width, vocabulary)

    def forward(self, tokens):
        x, _ = self.lstm(self.embed(tokens))
        return self.head(self.dropout(x))


# --- a vision transformer (Dosovitskiy et al. 2020) -----------------------------------------------

class Encoder(nn.Module):
    def __init__(self, width, heads, dropout):
        super().__init__()
        self.norm1 = nn.LayerNorm(width)
        self.attention = nn.MultiheadAttention(width, heads, dropout=dropout, batch_first=True)
        self.norm2 = nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Dropout(dropout),
                                 nn.Linear(2 * width, width), nn.Dropout(dropout))

    def forward(self, x):
        y = self.norm1(x)
        y, _ = self.attention(y, y, y, need_weights=False)
        x = x + y
        return x + self.mlp(self.norm2(x))


class VisionTransformer(nn.Module):
    def __init__(self, width, heads, layers, dropout):
        super().__init__()
        self.patches = nn.Conv2d(1, width, kernel_size=7, stride=7)
        self.first = nn.Parameter(torch.zeros(1, 1, width))
        self.places = nn.Parameter(torch.randn(1, 17, width) * 0.02)
        self.dropout = nn.Dropout(dropout)
        self.layers = nn.Sequential(*[Encoder(width, heads, dropout) for _ in range(layers)])
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, CLASSES)

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.first.expand(x.size(0), -1, -1), x], 1) + self.places
        x = self.norm(self.layers(self.dropout(x)))
        return self.head(x[:, 0])


# --- by name --------------------------------------------------------------------------------------

def make_model(kind, dropout, small=False):
    if kind == "mobile" and small:
        return Mobile(4, [(4, 1), (6, 2), (6, 1), (8, 2)], 2, dropout)
    if kind == "mobile":
        return Mobile(16, [(16, 1), (24, 2), (24, 1), (40, 2), (40, 1), (80, 2)], 4, dropout)
    if kind == "lstm":
        return LstmText(16, 6, dropout) if small else LstmText(256, 192, dropout)
    if kind == "vit":
        width, heads, layers = (8, 2, 2) if small else (64, 4, 4)
        return VisionTransformer(width, heads, layers, dropout)
    raise ValueError(f"no model {kind!r}")


KINDS = ("mobile", "lstm", "vit")


def export(kind, path, seed, dropout, small):
    torch.manual_seed(seed)
    # Through memory: a file that libtorch opens itself has the file's name in its bytes.
    contents = io.BytesIO()
    torch.jit.save(torch.jit.script(make_model(kind, dropout, small)), contents)
    pathlib.Path(path).write_bytes(contents.getvalue())


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("kind", choices=KINDS + ("all",))
    parser.add_argument("file", type=pathlib.Path, help="a folder for all")
    parser.add_argument("--seed", type=int, default=42)
    parser.add_argument("--dropout", type=float, default=0.1)
    parser.add_argument("--small", action="store_true", help="a few thousand weights, for tests")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    torch.set_num_threads(1)
    kinds = KINDS if arguments.kind == "all" else (arguments.kind,)
    for kind in kinds:
        path = arguments.file / f"{kind}.pt" if arguments.kind == "all" else arguments.file
        export(kind, path, arguments.seed, arguments.dropout, arguments.small)


if __name__ == "__main__":
    main()
