#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""XGBoost and a linear model on a table, as one would set them up by hand; prints a line of JSON each.

usage: table_peers.py TRAIN.csv TEST.csv TARGET [--sets COLUMN ...] [--texts COLUMN ...] [--c NUMBER]
                      [--linear-only]

Numbers are standardised for the linear model, categories one-hot, members of sets (a|b) one-hot, texts
tf-idf of words and pairs of words. Nothing is tuned: 300 trees of depth 6, rate 0.1; logistic regression
with C = 1, or what --c says (texts alone need about 20).
"""
import argparse
import csv
import json
import time

import numpy as np
import scipy.sparse
import xgboost
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, log_loss, roc_auc_score
from sklearn.preprocessing import OneHotEncoder, StandardScaler

def is_number(column):
    try:
        return np.isfinite(np.asarray([c or "nan" for c in column], float)).mean() > 0.9
    except ValueError:
        return False


def features(name, train, test, options):
    """A column as a matrix for each of both parts."""
    if name in options.texts:
        ways = TfidfVectorizer(ngram_range=(1, 2), token_pattern=r"\S+", sublinear_tf=True)
    elif name in options.sets:
        ways = CountVectorizer(tokenizer=lambda cell: cell.split("|"), token_pattern=None,
                               lowercase=False, binary=True)
    elif is_number(train):
        numbers = [np.nan_to_num(np.asarray([c or "nan" for c in part], float)).reshape(-1, 1)
                   for part in (train, test)]
        scale = StandardScaler().fit(numbers[0])
        return [scipy.sparse.csr_matrix(scale.transform(n)) for n in numbers]
    else:
        ways = OneHotEncoder(handle_unknown="ignore")
        train, test = ([[c] for c in part] for part in (train, test))
    return ways.fit_transform(train), ways.transform(test)


def figures(truth, shares, classes):
    guessed = classes[shares.argmax(1)]
    out = {"accuracy": accuracy_score(truth, guessed), "log_loss": log_loss(truth, shares, labels=classes)}
    if len(classes) == 2:
        out["auc"] = roc_auc_score(truth == classes[1], shares[:, 1])
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("train")
    parser.add_argument("test")
    parser.add_argument("target")
    parser.add_argument("--sets", nargs="*", default=[])
    parser.add_argument("--texts", nargs="*", default=[])
    parser.add_argument("--c", type=float, default=1, help="inverse of the linear model's penalty")
    parser.add_argument("--linear-only", action="store_true", help="no trees: they suit no texts")
    options = parser.parse_args()
    parts = []
    for path in (options.train, options.test):
        with open(path, encoding="utf-8", newline="") as file:
            parts.append(list(csv.DictReader(file)))
    known = {row[options.target] for row in parts[0]}
    parts[1] = [row for row in parts[1] if row[options.target] in known]
    truth = [np.asarray([row[options.target] for row in part]) for part in parts]
    pairs = [features(name, *([row[name] for row in part] for part in parts), options)
             for name in parts[0][0] if name != options.target]
    train, test = (scipy.sparse.hstack([p[i] for p in pairs]).tocsr() for i in (0, 1))
    began = time.process_time()
    linear = LogisticRegression(C=options.c, max_iter=1000).fit(train, truth[0])
    took = time.process_time() - began
    print(json.dumps({"tool": "logistic regression", "cpu": took,
                      **figures(truth[1], linear.predict_proba(test), linear.classes_)}), flush=True)
    if options.linear_only:
        return
    classes, numbers = np.unique(truth[0], return_inverse=True)
    began = time.process_time()
    trees = xgboost.XGBClassifier(n_estimators=300, max_depth=6, learning_rate=0.1, tree_method="hist",
                                  n_jobs=1).fit(train, numbers)
    took = time.process_time() - began
    print(json.dumps({"tool": "XGBoost", "cpu": took,
                      **figures(truth[1], trees.predict_proba(test), classes)}))


if __name__ == "__main__":
    main()
