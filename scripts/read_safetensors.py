#!/usr/bin/python3
"""Reads a safetensors file with nothing but struct, json and numpy: a second opinion on ours.

    scripts/read_safetensors.py weights.safetensors

prints a line per tensor: name, shape (3x4; "scalar" for none) and the SHA-256 of its values.
From Python, read(path) gives a dict of numpy arrays; torch.from_numpy makes tensors of them.
"""

import hashlib
import json
import struct
import sys

import numpy as np


def read(path):
    """The tensors of the file by name, in the order of their bytes, and its metadata."""
    with open(path, "rb") as file:
        contents = file.read()
    (header_bytes,) = struct.unpack_from("<Q", contents)
    start = 8 + header_bytes
    if start % 64 != 0:
        raise ValueError(f"{path}: values begin at {start}, no multiple of 64")
    header = json.loads(contents[8:start])
    metadata = header.pop("__metadata__", {})

    tensors = {}
    end_expected = 0
    for name, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        if entry["dtype"] != "F32":
            raise ValueError(f"{path}: {name} is {entry['dtype']}")
        begin, end = entry["data_offsets"]
        if begin != end_expected:
            raise ValueError(f"{path}: {name} begins at {begin}, expected {end_expected}")
        end_expected = end
        values = np.frombuffer(contents[start + begin:start + end], "<f4")
        tensors[name] = values.reshape(entry["shape"]).copy()
    if start + end_expected != len(contents):
        raise ValueError(f"{path}: {len(contents) - start - end_expected} bytes to spare")
    return tensors, metadata


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    tensors, metadata = read(sys.argv[1])
    for name, values in tensors.items():
        shape = "x".join(str(extent) for extent in values.shape) or "scalar"
        print(name, shape, hashlib.sha256(values.tobytes()).hexdigest())
    for key, value in sorted(metadata.items()):
        print("#", key, value)


if __name__ == "__main__":
    main()
