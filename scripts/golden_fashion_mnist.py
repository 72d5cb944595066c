#!/usr/bin/python3
"""Prints the values that src/wide/data/fashion_mnist_test.cc expects of Debian's Fashion-MNIST.

An independent reading: Python's gzip, numpy's arithmetic in double rounded to float32, and the
manifest put together as the picture in src/wide/data/manifest.h has it.
"""

import gzip
import hashlib
import struct

import numpy as np

FOLDER = "/usr/share/datasets/fashion-mnist/"
NAMES = ["train-images-idx3-ubyte", "train-labels-idx1-ubyte",
         "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"]
CHUNK_BYTES = 1 << 20
BYTES_TYPE = 1


def read(name):
    with gzip.open(FOLDER + name + ".gz") as file:
        return file.read()


def values(file):
    """What follows an idx header: magic, then one extent per axis."""
    return file[4 + 4 * file[3]:]


def sample_digest(images, index):
    pixels = np.frombuffer(values(images), np.uint8)[784 * index:784 * (index + 1)]
    normalised = ((pixels / 255.0 - 0.2860) / 0.3530).astype("<f4")
    return hashlib.sha256(normalised.tobytes()).hexdigest()


def manifest(parts):
    """parts: (bytes, record size) in the order of NAMES."""
    head = b"wide samples 1\n" + struct.pack("<QQd", 60000, 10000, 0.0)
    head += struct.pack("<IIBB3I", 10, 1, 0, 3, 1, 28, 28)
    chunks = []
    for content, record in parts:
        records = CHUNK_BYTES // record
        head += struct.pack("<B5Q", BYTES_TYPE, len(content) // record, record, record, records,
                            len(chunks))
        step = records * record
        chunks += [content[at:at + step] for at in range(0, len(content), step)]
    head += struct.pack("<Q", len(chunks))
    return head + b"".join(hashlib.sha256(chunk).digest() for chunk in chunks)


def main():
    files = [read(name) for name in NAMES]
    train_images, train_labels, eval_images, eval_labels = files
    whole = manifest([(values(file), record) for file, record in zip(files, (784, 1, 784, 1))])
    print("set", hashlib.sha256(whole).hexdigest())
    print("train labels", list(train_labels[8:18]))
    print("eval labels", list(eval_labels[8:18]))
    print("train 0", sample_digest(train_images, 0))
    print("train 59999", sample_digest(train_images, 59999))
    print("eval 0", sample_digest(eval_images, 0))


if __name__ == "__main__":
    main()
