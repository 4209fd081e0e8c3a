#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Decomposes the positive PMI of a file of counts with scikit-learn, and prints the CPU seconds that this took.

usage: sklearn_pmi.py FILE.counts DIM
"""
import json
import sys
import time

import numpy as np
import scipy.sparse
from sklearn.utils.extmath import randomized_svd

SMOOTHING = 0.75


def header(path):
    """What a safetensors file says of itself, and where its data begin."""
    with open(path, "rb") as file:
        size = int.from_bytes(file.read(8), "little")
        return json.loads(file.read(size)), 8 + size


def tensor(path, name, dtype):
    about, start = header(path)
    first, end = about[name]["data_offsets"]
    return np.fromfile(path, dtype, (end - first) // np.dtype(dtype).itemsize, offset=start + first)


def main():
    path, dim = sys.argv[1], int(sys.argv[2])
    offsets = tensor(path, "cells.offsets", np.uint64).astype(np.int64)
    columns = tensor(path, "cells.columns", np.uint32).astype(np.int32)
    counts = tensor(path, "cells.values", np.float32)
    words = len(offsets) - 1
    matrix = scipy.sparse.csr_matrix((counts, columns, offsets), (words, words))
    of_row = np.asarray(matrix.sum(1), np.float64).ravel()
    of_column = np.asarray(matrix.sum(0), np.float64).ravel() ** SMOOTHING
    rows = np.repeat(np.arange(words), np.diff(offsets))
    matrix.data = np.log(counts * of_column.sum() / (of_row[rows] * of_column[columns])).astype(np.float32)
    matrix.data[matrix.data < 0] = 0
    matrix.eliminate_zeros()
    began = time.process_time()
    randomized_svd(matrix, dim, random_state=1)
    print(json.dumps({"cpu": time.process_time() - began, "cells": int(matrix.nnz)}))


if __name__ == "__main__":
    main()
