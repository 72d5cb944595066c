#!/usr/bin/python3
"""Prints what src/wide/data/npy_file_test.cc expects: files as NumPy itself writes them, and what
NumPy makes of every half-precision number."""

import hashlib
import io
import warnings

import numpy as np


def file_of(array, version):
    file = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # versions 2 and 3 are rarely needed
        np.lib.format.write_array(file, array, version=version)
    return file.getvalue()


def show(name, content):
    print(name)
    for at in range(0, len(content), 40):
        print('    "' + content[at:at + 40].hex() + '"')


def main():
    show("u1, version 1", file_of(np.arange(6, dtype="u1").reshape(2, 3), (1, 0)))
    show("i4, version 1", file_of(np.array([-1, 2**31 - 1], "<i4"), (1, 0)))
    show("i8, version 2", file_of(np.array([[-2], [2**40]], "<i8"), (2, 0)))
    show("f2, version 3", file_of(np.array([1.5, -0.0], "<f2"), (3, 0)))
    show("f4, no extents", file_of(np.array(2.5, "<f4"), (1, 0)))
    show("f4, big-endian", file_of(np.array([1.0], ">f4"), (1, 0)))
    show("f4, Fortran order", file_of(np.asfortranarray(np.ones((2, 2), "<f4")), (1, 0)))
    show("f8", file_of(np.array([1.0], "<f8"), (1, 0)))
    show("fields", file_of(np.zeros(1, [("a", "<i4"), ("b", "<f4")]), (1, 0)))

    halves = np.arange(65536, dtype="<u2").view("<f2")
    numbers = halves[~np.isnan(halves)].astype("<f4")
    print("halves", len(numbers), hashlib.sha256(numbers.tobytes()).hexdigest())
    normalised = ((halves[~np.isnan(halves)].astype("f8") - 0.25) / 3).astype("<f4")
    print("halves, normalised", hashlib.sha256(normalised.tobytes()).hexdigest())
    shorts = ((np.arange(-500, 500, dtype="<i4").astype("f8") - 0.1) / 0.7).astype("<f4")
    print("i4, normalised", hashlib.sha256(shorts.tobytes()).hexdigest())


if __name__ == "__main__":
    main()
