#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Model files and checkpoints made by hand, with a right checksum, and then used.

usage: hostile.py --use-many PROGRAM --kith PROGRAM [--count N] [--seed S] [--keep FOLDER]

Small models of every kind, and checkpoints of their runs, are taken apart; what stands in them is
made to contradict itself: settings, numbers, shapes, types, indices, names, columns, parts of two
models in one. tests/use_many.cc asks each file everything. Whatever it says, answers and errors
are fine; crashes, reports of sanitizers and work without an end are not.
"""
import argparse
import collections
import json
import os
import pathlib
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile

BATCH = 100
FORMATS = {"F32": "f", "F64": "d", "U8": "B", "U32": "I", "U64": "Q", "I32": "i", "I64": "q"}
STOPS = (1, 2, 3, 5, 8, 13, 21)  # reports after which a run is stopped

# --- Models to take apart ---

WORDS = ["text.txt", "--dim", 4, "--epochs", 3, "--min-count", 1, "--sample", 0]
TABLE = ["table.csv", "--dim", 4, "--epochs", 3]
STARS = ["stars.csv", "--dim", 3]
CASES = {
    "word2vec": ["word2vec", *WORDS],
    "word2vec-cbow": ["word2vec", *WORDS, "--objective", "cbow", "--early-stop", 1, "--holdout",
                      0.2, "--epochs", 8],
    "lda": ["lda", "text.txt", "--topics", 3, "--epochs", 6, "--min-df", 1],
    "lda-gibbs": ["lda", "text.txt", "--topics", 3, "--epochs", 6, "--min-df", 1, "--method",
                  "gibbs"],
    "lda-online": ["lda", "text.txt", "--topics", 3, "--epochs", 4, "--min-df", 1, "--method",
                   "online"],
    "doc2vec": ["doc2vec", "text.txt", "--dim", 4, "--epochs", 2, "--method", "dm"],
    "plsa": ["plsa", "text.txt", "--topics", 3, "--epochs", 3],
    "plsa-stop": ["plsa", "text.txt", "--topics", 3, "--epochs", 14, "--early-stop", 1, "--holdout",
                  0.2, "--tolerance", 0],
    "fasttext": ["fasttext", "text.txt", "--dim", 4, "--epochs", 2, "--buckets", 100],
    "glove": ["glove", "text.txt", "--dim", 4, "--epochs", 3],
    "glove-stop": ["glove", "text.txt", "--dim", 4, "--epochs", 8, "--early-stop", 1, "--holdout",
                   0.2, "--lr", 3],
    "pmi": ["pmi", "text.txt", "--dim", 4],
    "pmi-als": ["pmi", "text.txt", "--dim", 4, "--epochs", 3, "--solver", "als"],
    "classifier": ["classifier", "labelled.txt", "--dim", 4, "--epochs", 3],
    "classifier-tree": ["classifier", "labelled.txt", "--dim", 4, "--epochs", 8, "--early-stop", 1,
                        "--lr", 3, "--loss", "hierarchical"],
    "classifier-ova": ["classifier", "labelled.txt", "--dim", 4, "--epochs", 3, "--loss",
                       "one-vs-all", "--word-ngrams", 1],
    "feat2vec": ["feat2vec", *TABLE],
    "feat2vec-adam": ["feat2vec", *TABLE, "--optimiser", "adam", "--pair-weights"],
    "feat2vec-class": ["feat2vec", *TABLE, "--target", "who", "--early-stop", 1, "--holdout", 0.2],
    "feat2vec-flag": ["feat2vec", *TABLE, "--target", "flag", "--loss", "logistic"],
    "feat2vec-number": ["feat2vec", *TABLE, "--target", "size"],
    "feat2vec-date": ["feat2vec", *TABLE, "--target", "day"],
    "als": ["als", *STARS, "--epochs", 5],
    "als-implicit": ["als", "chosen.csv", "--dim", 3, "--epochs", 4],
    "als-normalised": ["als", *STARS, "--epochs", 4, "--normalise", "both", "--early-stop", 1],
    "mf": ["mf", *STARS, "--epochs", 6],
    "mf-bpr": ["mf", "chosen.csv", "--dim", 3, "--epochs", 4],
    "mf-plain": ["mf", *STARS, "--epochs", 4, "--no-adapt", "--no-refit"],
    "bmf": ["bmf", *STARS, "--epochs", 10, "--burn-in", 2, "--samples", 4],
    "svp": ["svp", *STARS, "--epochs", 8],
    "softimpute": ["softimpute", *STARS, "--decay", 0.5],
    "softimpute-shrink": ["softimpute", *STARS, "--method", "shrink", "--epochs", 6],
    "pca": ["pca", "numbers.csv", "--dim", 3],
    "pca-scaled": ["pca", "numbers.csv", "--dim", 2, "--scale", "--whiten", "--holdout", 0.2],
    "pca-block": ["pca", "numbers.csv", "--dim", 2, "--method", "randomised", "--epochs", 3],
    "pca-power": ["pca", "numbers.csv", "--dim", 3, "--method", "power"],
    "pca-net": ["pca", "numbers.csv", "--dim", 2, "--method", "autoencoder", "--epochs", 150],
    "nmf": ["nmf", *STARS, "--epochs", 6],
    "nmf-kl": ["nmf", "chosen.csv", "--dim", 3, "--epochs", 4, "--loss", "kl", "--no-biases"],
    "gmm": ["gmm", "numbers.csv", "--components", 2, "--epochs", 3, "--restarts", 2],
    "gmm-auto": ["gmm", "numbers.csv", "--max-components", 2, "--epochs", 2, "--restarts", 1,
                 "--covariance", "tied", "--holdout", 0.2],
    "gmm-kmeans": ["gmm", "numbers.csv", "--components", 3, "--epochs", 3, "--method", "kmeans"],
}


def write_data(folder, rng):
    """Text, a table with a column of every type, ratings, and rows for updates."""
    text = "".join(" ".join(f"{rng.choice(('hill', 'sea'))}{rng.randrange(6)}" for _ in range(8))
                   + "\n" for _ in range(40))
    head = "who,tags,note,size,day,flag,vector\n"

    def row(i, who):
        numbers = ";".join(str(rng.randrange(9)) for _ in range(3))
        return (f"{who},t{rng.randrange(4)}|t{rng.randrange(4)},words {rng.randrange(9)} of row {i},"
                f"{rng.randrange(100)}.5,2020-0{1 + i % 9}-11,{('no', 'yes')[i % 2]},[{numbers}]\n")
    table = [row(i, f"w{rng.randrange(5)}") for i in range(40)]
    stars = [(f"u{u}", f"i{i}") for u in range(8) for i in range(6) if rng.random() < 0.7]
    rated = [f"{u},{i},{rng.randint(1, 5)}\n" for u, i in stars]
    chosen = [f"{u},{i}\n" for u, i in stars]
    labelled = "".join(f"__label__{rng.choice('abc')} {line}\n" for line in text.splitlines())
    numbers = "a,b,c,d,e\n" + "".join(
        ",".join(f"{rng.gauss(k, 3 - k / 2):.3f}" for k in range(5)) + "\n" for _ in range(40))
    data = {"numbers.csv": numbers, "numbers.csv.more": "a,b,c,d,e\n1,2,3,4,5\n",
            "labelled.txt": labelled, "labelled.txt.more": "__label__new hill1\n",
            "text.txt": text, "text.txt.more": "hill1 new\n",
            "table.csv": head + "".join(table),
            "table.csv.more": head + row(1, "new") + row(2, "w1") + row(3, "new"),
            "stars.csv": "user,item,rating\n" + "".join(rated),
            "stars.csv.more": "user,item,rating\nnew,i1,3\nu1,other,2\nu2,i2,5\n",
            "chosen.csv": "user,item\n" + "".join(chosen),
            "chosen.csv.more": "user,item\nnew,i1\nu1,other\nu2,i2\n"}
    for name, content in data.items():
        (folder / name).write_text(content)


class File:
    """A model file in parts."""

    def __init__(self, data, source):
        size = int.from_bytes(data[:8], "little")
        header = json.loads(data[8:8 + size])
        self.source = source
        self.texts = header.pop("__metadata__")
        self.tensors = {name: [about["dtype"], about["shape"],
                               data[8 + size + about["data_offsets"][0]:
                                    8 + size + about["data_offsets"][1]]]
                        for name, about in header.items()}

    def copy(self):
        out = File.__new__(File)
        out.source, out.texts = self.source, dict(self.texts)
        out.tensors = {name: [t, list(s), d] for name, (t, s, d) in self.tensors.items()}
        return out

    def bytes(self):
        """Whole, but for the checksum, which use_many puts right."""
        header, at = {"__metadata__": {**self.texts, "checksum": "0" * 16}}, 0
        order = sorted(self.tensors, key=lambda n: -struct.calcsize(FORMATS[self.tensors[n][0]]))
        for name in order:
            dtype, shape, data = self.tensors[name]
            header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + len(data)]}
            at += len(data)
        text = json.dumps(header, separators=(",", ":")).encode()
        text += b" " * (-(8 + len(text)) % 64)
        return len(text).to_bytes(8, "little") + text + b"".join(self.tensors[n][2] for n in order)

    def numbers(self, name):
        dtype, _, data = self.tensors[name]
        return list(struct.unpack(f"<{len(data) // self.width(name)}{FORMATS[dtype]}", data))

    def put(self, name, numbers):
        self.tensors[name][2] = struct.pack(f"<{len(numbers)}{FORMATS[self.tensors[name][0]]}",
                                            *numbers)

    def width(self, name):
        return struct.calcsize(FORMATS[self.tensors[name][0]])

    def reshape(self, name, shape):
        """Another shape, with the data cut or repeated to fit."""
        count = self.width(name)
        for n in shape:
            count *= n
        data = self.tensors[name][2] or b"\0"
        self.tensors[name][1:] = [list(shape), (data * (count // len(data) + 1))[:count]]


def make_files(use_many, kith, folder):
    """Names, and files that are as they should be."""
    out = {}
    for case, (model, source, *flags) in CASES.items():
        flags = list(map(str, flags))
        model_file = folder / f"{case}.kith"
        subprocess.run([kith, "train", model, folder / source, "-o", model_file, "--threads", "1",
                        "--quiet", *flags], check=True, stderr=subprocess.DEVNULL)
        out[case] = File(model_file.read_bytes(), source)
        for stop in STOPS:
            left = folder / f"{case}-{stop}.kith.checkpoint"
            subprocess.run([use_many, "--stop", str(stop), model, folder / source,
                            str(left)[:-len(".checkpoint")], *flags], check=True)
            if not left.exists():
                break
            out[f"{case}-{stop}.checkpoint"] = File(left.read_bytes(), source)
    vectors = folder / "vectors.txt"
    vectors.write_text("4 3\n" + "".join(f"hill{i} {i} 1 0.5\n" for i in range(4)))
    subprocess.run([kith, "import", vectors, "-o", folder / "vectors.kith", "--quiet"], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    out["vectors"] = File((folder / "vectors.kith").read_bytes(), "text.txt")
    return out


# --- What is done to them: each changes a file in place; `others` are whole ones ---

WHOLE = [0, 1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 100, 255, 1000, 4096, 65536, 2**31 - 1, 2**31,
         2**32 - 1, 2**32, 2**53, 2**63 - 1, 2**63, 2**64 - 1]
REAL = [0.0, -0.0, 1.0, -1.0, 0.5, -3.0, 1e-3, 5e-324, 1e-40, 1e-30, 1e10, 1e19, 1e30, -1e30, 3e38,
        -3e38, 1e300, -1e300, 1e308, float("nan"), float("inf"), float("-inf")]
CHOICES = ["sgd", "momentum", "nesterov", "adagrad", "adam", "adagrad-row", "squared", "absolute",
           "huber", "tukey", "logistic", "hinge", "softmax", "nce", "ns", "kl", "bpr", "skipgram",
           "cbow", "pool", "window", "pair", "centre", "exact", "reference", "users", "items",
           "both", "none", "cholesky", "cg", "blocks", "als", "shrink", "power", "lanczos", "one",
           "multiplicative", "who", "tags", "note", "size", "day", "flag", "vector", "rating"]
TYPES = ["category", "set", "text", "number", "date", "boolean", "vector", "ignore"]


def near_number(rng, text):
    """A number like this one, or at an edge, as text."""
    if re.fullmatch(r"\d+", text) and rng.random() < 0.5:
        n = int(text)
        return str(rng.choice([n + 1, n - 1, 2 * n, n // 2, n + 16, 3 * n + 1]))
    return rng.choice([str(rng.choice(WHOLE)), repr(rng.choice(REAL)), "-1", "-7"])


def change_setting(rng, file, _):
    """A setting, in one of the texts that hold it or in all."""
    held = [k for k in ("settings", "run", "used") if k in file.texts]
    if not held:
        return
    lines = file.texts[rng.choice(held)].split("\n")
    found = [m for m in (re.match(r"([\w-]+) = (.+)", line) for line in lines) if m]
    if not found:
        return
    key, value = rng.choice(found).groups()
    if rng.random() < 0.3:
        key, value = "dim", rng.choice(["1", "2", "3", "4", "5", "16", "17", "100"])
    if value in ("true", "false"):
        new = {"true": "false", "false": "true"}[value]
    elif re.fullmatch(r"[-\d.e+]+", value):
        new = near_number(rng, value)
    else:
        new = rng.choice([f'"{rng.choice(CHOICES)}"', near_number(rng, "4"), '"auto"', '""'])
    for name in held if rng.random() < 0.7 else [rng.choice(held)]:
        file.texts[name] = re.sub(rf"(?m)^{re.escape(key)} = .*$", lambda _: f"{key} = {new}",
                                  file.texts[name])


def change_number(rng, file, _):
    """A number that stands in the metadata."""
    found = [k for k, v in file.texts.items() if re.fullmatch(r"[-\d.e+ ]+|nan|inf", v)]
    key = rng.choice(found or ["units"])
    values = file.texts.get(key, "0").split()
    change = rng.randrange(6)
    if change == 0:
        values = values[:rng.randrange(len(values) + 1)]
    elif change == 1:
        values = values * rng.randint(2, 5)
    elif values:
        values[rng.randrange(len(values))] = near_number(rng, values[0])
    file.texts[key] = " ".join(values)


def change_run(rng, file, _):
    """How far a run came: what is not there, or ends elsewhere."""
    key = rng.choice(["progress.kept", "progress.refit", "progress.block", "progress.epoch_steps",
                      "progress.held_out", "progress.lr_scale", "progress.loss",
                      "progress.started", "progress.unscored", "progress.converged",
                      "progress.finished", "progress.first_loss", "checkpoint", "format"])
    if rng.random() < 0.2:
        file.texts.pop(key, None)
    else:
        file.texts[key] = rng.choice(["0", "1", "2", "3", "true", "1 2 3", "3 1 2 2", "",
                                      near_number(rng, file.texts.get(key, "1"))])


def drop_text(rng, file, _):
    file.texts.pop(rng.choice(list(file.texts)))


def change_text(rng, file, others):
    """A text of the metadata becomes that of another file."""
    other = rng.choice(others)
    key = rng.choice(list(other.texts))
    file.texts[key] = other.texts[key]


def change_shape(rng, file, _):
    """Rows or columns of one tensor."""
    name = rng.choice(list(file.tensors))
    shape = list(file.tensors[name][1])
    change = rng.randrange(8)
    if change == 0:
        shape = shape[::-1]
    elif change == 1:
        shape = shape + [1] if rng.random() < 0.5 else [len(shape)] + shape
    elif change == 2 and len(shape) > 1:
        shape = [shape[0] * shape[1]]
    elif shape:
        i = rng.randrange(len(shape))
        shape[i] = max(0, rng.choice([0, 1, 2, shape[i] - 1, shape[i] + 1, shape[i] * 2,
                                      shape[i] // 2, shape[i] + 16]))
    file.reshape(name, shape)


def change_size(rng, file, _):
    """One size, wherever it stands: more or fewer users, words, dimensions."""
    sizes = sorted({n for _, shape, _ in file.tensors.values() for n in shape})
    old = rng.choice(sizes)
    new = max(0, rng.choice([0, 1, 2, old - 1, old + 1, old + 2, 2 * old, old + 16, old - 16]))
    for name, (_, shape, _) in list(file.tensors.items()):
        if old in shape and not name.endswith(".bytes"):
            file.reshape(name, [new if n == old else n for n in shape])
    if rng.random() < 0.7:
        for key in ("settings", "run", "used"):
            for shift in (0, 1, 2):
                file.texts[key] = file.texts.get(key, "").replace(
                    f"\ndim = {old - shift}\n", f"\ndim = {max(1, new - shift)}\n")


def change_type(rng, file, _):
    name = rng.choice(list(file.tensors))
    new = rng.choice(list(FORMATS))
    dtype, shape, _ = file.tensors[name]
    file.tensors[name][0] = new
    if struct.calcsize(FORMATS[new]) != struct.calcsize(FORMATS[dtype]) or rng.random() < 0.3:
        file.reshape(name, shape)


def change_elements(rng, file, _):
    """Elements of a tensor at the edge of what they may be, or out of order."""
    name = rng.choice([n for n, t in file.tensors.items() if t[2]] or [""])
    if not name or len(file.tensors[name][2]) % file.width(name):
        return
    values, dtype = file.numbers(name), file.tensors[name][0]
    change = rng.randrange(10)
    if change == 0:
        rng.shuffle(values)
    elif change == 1:
        values = [values[0]] * len(values)
    elif change == 2:
        values = values[::-1]
    elif change == 3 and dtype[0] == "F":
        by = rng.choice([0.0, -1.0, 1e-30, 1e20, 1e30])
        values = [limited(dtype, v * by) for v in values]
    elif change == 4:
        values = sorted(values)
    else:
        for _ in range(rng.choice([1, 1, 2, len(values)])):
            values[rng.randrange(len(values))] = edge(rng, dtype, values)
    file.put(name, values)


def limited(dtype, value):
    """As a float of this size: infinite, if it is too large."""
    if dtype == "F32" and abs(value) > 3.4e38:
        return float("inf") if value > 0 else float("-inf")
    return value


def edge(rng, dtype, values):
    if dtype[0] == "F":
        return limited(dtype, rng.choice([*REAL, -rng.choice(values)]))
    bits = 8 * struct.calcsize(FORMATS[dtype])
    value = rng.choice([*WHOLE, len(values), max(values) + 1, max(values), min(values)])
    return value % 2**(bits - 1) if dtype[0] == "I" else value % 2**bits


def change_names(rng, file, _):
    """Names twice, empty, without an end, or no UTF-8."""
    found = [n[:-len(".bytes")] for n in file.tensors if n.endswith(".bytes")]
    if not found:
        return
    name = rng.choice(found)
    offsets = file.numbers(name + ".offsets") if name + ".offsets" in file.tensors else []
    text = file.tensors[name + ".bytes"][2]
    if (name + ".offsets" not in file.tensors or file.tensors[name + ".offsets"][0] != "U64"
            or sorted(offsets) != offsets or not offsets or offsets[-1] > len(text)):
        return
    words = [text[a:b] for a, b in zip(offsets, offsets[1:])]
    for _ in range(rng.choice([1, 1, 3])):
        odd = rng.choice([b"", b"\xff\xfe", b"a b", b"a\nb", b"\0", b"=", b"x" * 70000, b"w1 - w2",
                          *words[:3]])
        change = rng.randrange(4)
        if change == 0 or not words:
            words.append(odd)
        elif change == 1:
            words.pop(rng.randrange(len(words)))
        elif change == 2:
            rng.shuffle(words)
        else:
            words[rng.randrange(len(words))] = odd
    ends = [0]
    for word in words:
        ends.append(ends[-1] + len(word))
    file.tensors[name + ".bytes"] = ["U8", [ends[-1]], b"".join(words)]
    file.tensors[name + ".offsets"][1] = [len(ends)]
    file.put(name + ".offsets", ends)


def drop_tensor(rng, file, _):
    file.tensors.pop(rng.choice(list(file.tensors)))


def add_tensor(rng, file, others):
    """One of another file, or of this one under a name that has another meaning."""
    other = rng.choice([file, *others])
    name = rng.choice(list(other.tensors) or [""])
    if not name:
        return
    called = name if rng.random() < 0.6 else rng.choice(
        ["best." + name, "now.user", "now.item", "shrink.y", "map.0", "map.1", "hyper", "counts",
         "shift.user.mean", "shift.item.scale", "group.0.knots", "best.user", "best.theta", name])
    dtype, shape, data = other.tensors[name]
    file.tensors[called] = [dtype, list(shape), data]


def splice(rng, file, others):
    """Some tensors, or all texts, of another file; rather one of the same kind."""
    alike = [o for o in others if o.texts["model"] == file.texts.get("model")]
    other = rng.choice(alike if rng.random() < 0.7 and alike else others)
    if rng.random() < 0.3:
        file.texts = dict(other.texts)
        return
    share = rng.choice([0.2, 0.5, 0.8])
    for name, (dtype, shape, data) in other.tensors.items():
        if rng.random() < share:
            file.tensors[name] = [dtype, list(shape), data]


def change_schema(rng, file, _):
    """The columns of a table: types, names, order, and how they take part."""
    try:
        columns = json.loads(file.texts["schema"])["columns"]
    except (KeyError, ValueError):
        return
    for _ in range(rng.choice([1, 1, 2])):
        if not columns:
            break
        column, other = rng.choice(columns), rng.choice(columns)
        change = rng.randrange(8)
        if change == 0:
            column["type"] = rng.choice(TYPES)
        elif change == 1:
            column["name"] = rng.choice([other["name"], "x", "", column["name"] + " "])
        elif change == 2:
            columns.append(dict(column, name=rng.choice(["x", "y", column["name"]])))
        elif change == 3:
            rng.shuffle(columns)
        elif change == 4:
            columns.remove(column)
        else:
            key, values = rng.choice(
                [("buckets", WHOLE), ("knots", WHOLE), ("min_count", WHOLE),
                 ("weight", [0, -1, 1e6, 1e-300, 1e300]), ("pooling", [0, 1, 0.3, 2]),
                 ("vocabulary", [other["name"], "v"]), ("swap", [other["name"], "v"]),
                 ("interacts", [[other["name"]], ["nobody"], []]), ("sampled", [False, True]),
                 ("separator", ["", "|", ";", " "]), ("order", ["iso", "dmy", "mdy"])])
            for which in (column, other) if rng.random() < 0.5 else (column,):
                which[key] = rng.choice(values)
    file.texts["schema"] = json.dumps({"columns": columns})


CHANGES = [change_setting, change_setting, change_number, change_run, drop_text, change_text,
           change_shape, change_size, change_size, change_type, change_elements, change_elements,
           change_elements, change_names, drop_tensor, add_tensor, splice, change_schema]


def hostile_file(seed, files):
    """Name, bytes and data of one file."""
    rng = random.Random(seed)
    resumed = rng.random() < 0.5
    name = rng.choice([name for name in files if name.endswith(".checkpoint") == resumed])
    file, done = files[name].copy(), []
    for _ in range(rng.choice([1, 1, 1, 2, 2, 3])):
        change = rng.choice(CHANGES)
        if not file.tensors or not file.texts:
            break
        change(rng, file, list(files.values()))
        done.append(change.__name__)
    called = f"{seed}-{name}" if name.endswith(".checkpoint") else f"{seed}-{name}.kith"
    return called, file.bytes(), file.source, done


# --- Having them used ---

class Campaign:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.outcomes = collections.Counter()

    def ask(self, listed):
        """What came of each file of a list."""
        lines = "".join(f"{path}\t{source}\n" for path, source in listed)
        environment = dict(os.environ, TMPDIR=str(self.folder),
                           UBSAN_OPTIONS="print_stacktrace=1", ASAN_OPTIONS="detect_leaks=0")
        done = subprocess.run([self.options.use_many, self.folder], input=lines, text=True,
                              errors="replace", capture_output=True, check=False, env=environment)
        said = [line.split(" ", 1)[1] for line in done.stdout.splitlines()]
        if len(said) != len(listed):
            sys.exit(f"hostile: {len(said)} of {len(listed)} files: {done.stderr[-2000:]}")
        return said, done.stderr

    def run(self, seeds, files):
        made = [(seed, *hostile_file(seed, files)) for seed in seeds]
        for _, name, data, _, _ in made:
            (self.folder / name).write_bytes(data)
        said, _ = self.ask([(self.folder / name, source) for _, name, _, source, _ in made])
        for (seed, name, _, source, done), outcome in zip(made, said):
            self.outcomes[outcome.split(":")[0]] += 1
            if outcome.startswith("WRONG"):
                self.report(seed, name, source, done, outcome)
            (self.folder / name).unlink()

    def report(self, seed, name, source, done, outcome):
        path = self.folder / name
        _, errors = self.ask([(path, source)])
        print(f"hostile: {name}: {outcome} ({', '.join(done)})\n{errors[:4000]}")
        print(f"  again with: {sys.argv[0]} --use-many {self.options.use_many} --kith "
              f"{self.options.kith} --count 1 --seed {seed}", flush=True)
        if self.options.keep:
            self.options.keep.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, self.options.keep / name)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--use-many", required=True, type=pathlib.Path)
    parser.add_argument("--kith", required=True, type=pathlib.Path)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=pathlib.Path, help="where the files of failures go")
    options = parser.parse_args()
    options.use_many, options.kith = options.use_many.resolve(), options.kith.resolve()
    with tempfile.TemporaryDirectory(prefix="kith-hostile-") as name:
        campaign = Campaign(options, pathlib.Path(name))
        write_data(campaign.folder, random.Random(1))
        files = make_files(options.use_many, options.kith, campaign.folder)
        end = options.seed + options.count
        for first in range(options.seed, end, BATCH):
            campaign.run(range(first, min(end, first + BATCH)), files)
    outcomes = campaign.outcomes
    print(f"hostile: {outcomes.total()} files, {outcomes['used']} loaded, {outcomes['WRONG']} "
          "failures")
    return 1 if outcomes["WRONG"] else 0


if __name__ == "__main__":
    sys.exit(main())
