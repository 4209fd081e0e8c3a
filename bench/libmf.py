#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs LIBMF from its shared library on one thread: the cost of an epoch, or the error on test ratings.

Prints JSON. The ratings are user, item, rating in a text file of any of the usual separators.
"""
import argparse
import ctypes
import json
import math
import re
import time

import numpy


class Problem(ctypes.Structure):
    _fields_ = [("users", ctypes.c_int), ("items", ctypes.c_int), ("size", ctypes.c_longlong),
                ("ratings", ctypes.c_void_p)]


class Parameter(ctypes.Structure):
    _fields_ = [("loss", ctypes.c_int), ("k", ctypes.c_int), ("threads", ctypes.c_int), ("bins", ctypes.c_int),
                ("iterations", ctypes.c_int), ("l1_p", ctypes.c_float), ("l2_p", ctypes.c_float),
                ("l1_q", ctypes.c_float), ("l2_q", ctypes.c_float), ("eta", ctypes.c_float),
                ("alpha", ctypes.c_float), ("c", ctypes.c_float), ("nmf", ctypes.c_bool),
                ("quiet", ctypes.c_bool), ("copy", ctypes.c_bool)]


RATING = numpy.dtype([("user", "i4"), ("item", "i4"), ("value", "f4")])


def load(path):
    library = ctypes.CDLL(str(path))
    library.mf_get_default_param.restype = Parameter
    library.mf_train.restype = ctypes.c_void_p
    library.mf_train.argtypes = [ctypes.POINTER(Problem), Parameter]
    library.mf_predict.restype = ctypes.c_float
    library.mf_predict.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_int]
    return library


def read(path, users, items):
    """The ratings of a file; new names get the next numbers."""
    out = []
    separator = re.compile(r"::|[,\t ]")
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            user, item, value = separator.split(line.rstrip("\n"))[:3]
            try:
                out.append((users.setdefault(user, len(users)), items.setdefault(item, len(items)), float(value)))
            except ValueError:  # the header
                users.pop(user), items.pop(item)
    return numpy.array(out, dtype=RATING)


def train(library, ratings, shape, options, iterations):
    problem = Problem(*shape, len(ratings), ratings.ctypes.data)
    parameter = library.mf_get_default_param()
    parameter.quiet, parameter.threads = True, 1
    parameter.k, parameter.iterations, parameter.eta = options.k, iterations, options.eta
    parameter.l2_p = parameter.l2_q = options.penalty
    start = time.process_time()
    model = library.mf_train(ctypes.byref(problem), parameter)
    return model, time.process_time() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library")
    parser.add_argument("train")
    parser.add_argument("--test", help="ratings to predict; without it the cost of an epoch is measured")
    parser.add_argument("--k", type=int, default=32)
    parser.add_argument("--iterations", type=int, default=50)
    parser.add_argument("--eta", type=float, default=0.1)
    parser.add_argument("--penalty", type=float, default=0.1)
    options = parser.parse_args()
    library = load(options.library)
    users, items = {}, {}
    ratings = read(options.train, users, items)
    if not options.test:
        shape = (len(users), len(items))
        seconds = [train(library, ratings, shape, options, n)[1] for n in (2, 6)]
        epoch = (seconds[1] - seconds[0]) / 4
        print(json.dumps({"ratings": len(ratings), "epoch_seconds": epoch, "rate": len(ratings) / epoch}))
        return
    known_users, known_items = len(users), len(items)
    test = read(options.test, users, items)
    model, seconds = train(library, ratings, (known_users, known_items), options, options.iterations)
    low, high = ratings["value"].min(), ratings["value"].max()
    scores = numpy.array([library.mf_predict(model, int(r["user"]), int(r["item"])) for r in test])
    errors = numpy.clip(scores, low, high) - test["value"]
    print(json.dumps({"rmse": math.sqrt(float((errors ** 2).mean())), "seconds": seconds}))


if __name__ == "__main__":
    main()
