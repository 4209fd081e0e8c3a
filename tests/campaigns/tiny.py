#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains on tiny data with random settings, and asks the models everything.

usage: tiny.py --kith PATH [--count N] [--seed S] [--all]

Data of 1 to 30 rows or lines are valid, however little they say: one user, one word, constant or
missing values. Training ends with a model that every command can read and that gives finite
answers, or with one sentence. With --deterministic the loss comes near the one without it. Case k
is that of --seed S+k --count 1.
"""
import csv
import functools
import itertools
import random

import campaign
import kith

WORDS = ["a", "b", "word", "été", "日本", "ключ", "x=y", "-", "O'Brien", "a b", "0", "007", "🙂", "%",
         "long" * 6, "--top", "user", "item"]
FORMATS = ["word2vec-bin", "word2vec-text", "glove", "fasttext-bin", "npy", "csv", "safetensors"]
# So that a case takes no longer than it must; what is slow by request is no defect.
MOST = {"epochs": 12, "iterations": 20, "dim": 40, "samples": 10, "negatives": 30, "holdout": 0.9}


# --- Data ---

def quoted(cell):
    return '"' + cell.replace('"', '""') + '"' if set(cell) & set(',"\n') else cell


def as_csv(rows):
    return "".join(",".join(map(quoted, row)) + "\n" for row in rows)


def some_names(rng):
    return rng.sample(WORDS, rng.choice([1, 1, 2, 3, 5, 15]))


def make_text(rng):
    words = [w.replace(" ", "_") for w in some_names(rng)]
    lines = [" ".join(rng.choices(words, k=rng.choice([0, 1, 2, 3, 10, 40])))
             for _ in range(rng.randint(1, 30))]
    return "\n".join(lines) + rng.choice(["", "\n"])


def make_labelled(rng):
    """Lines with no label, one or several, of one label or more."""
    labels = [f"__label__{w.replace(' ', '_')}" for w in some_names(rng)]
    return "\n".join(" ".join([*rng.sample(labels, min(len(labels), rng.choice([0, 1, 1, 1, 2]))),
                               line]) for line in make_text(rng).split("\n")) + "\n"


RATINGS = [lambda rng: "3", lambda rng: str(rng.randint(1, 5)), lambda rng: str(rng.randint(0, 1)),
           lambda rng: rng.choice(["-1", "1"]), lambda rng: f"{rng.gauss(0, 10):.3f}",
           lambda rng: "0", lambda rng: str(int(rng.expovariate(0.01))),
           lambda rng: f"{rng.lognormvariate(0, 5):.6g}"]


def make_ratings(rng):
    users, items = some_names(rng), some_names(rng)
    rating = rng.choice([None, *RATINGS])
    gaps = rng.choice([0, 0, 0, 0.2])
    timed = rng.random() < 0.3
    header = ["user", "item"] + ["rating"] * (rating is not None) + ["time"] * timed
    rows = []
    for _ in range(rng.randint(1, 30)):
        row = [rng.choice(users), rng.choice(items)]
        row += [rating(rng)] if rating else []
        row += [str(rng.randint(0, 2_000_000_000))] if timed else []
        rows.append(["" if rng.random() < gaps else cell for cell in row])
    return as_csv([header, *rows])


def vector(rng):
    return "[" + ", ".join(f"{rng.gauss(0, 1):.3f}" for _ in range(3)) + "]"


def make_column(rng):
    """A type for --types, or nothing, and what makes a cell."""
    names = some_names(rng)
    kinds = {
        "category": lambda: rng.choice(names),
        "set": lambda: "|".join(rng.sample(names, rng.randint(0, len(names)))),
        "text": lambda: " ".join(rng.choices(names, k=rng.randint(0, 12))),
        "number": lambda: rng.choice(RATINGS)(rng),
        "date": lambda: f"{rng.randint(1900, 2100)}-0{rng.randint(1, 9)}-{rng.randint(10, 28)}",
        "boolean": lambda: rng.choice(["true", "false"]),
        "vector": lambda: vector(rng),
    }
    kind = rng.choice(list(kinds))
    make = kinds[kind]
    shape = rng.choice(["any", "any", "any", "constant", "missing"])
    if shape == "constant":
        same = make()
        make = lambda: same
    elif shape == "missing":
        make = lambda: ""
    return (kind if rng.random() < 0.5 else ""), make


def make_table(rng):
    """A table, and the types that are said of its columns."""
    columns = [make_column(rng) for _ in range(rng.choice([1, 2, 2, 3, 5]))]
    gaps = rng.choice([0, 0, 0.3])
    names = [f"c{i}" if i else rng.choice(["c0", "été"]) for i in range(len(columns))]
    rows = [["" if rng.random() < gaps else make() for _, make in columns]
            for _ in range(rng.randint(1, 30))]
    rows += rng.choices(rows, k=rng.choice([0, 0, 5]))
    return as_csv([names, *rows]), {n: t for n, (t, _) in zip(names, columns) if t}


# --- Settings ---

def some_value(rng, setting, columns):
    if setting.type == "int":
        high = min(setting.high, MOST.get(setting.name, 50))
        some = rng.uniform(setting.low, high)
        return str(int(rng.choice([setting.low, setting.low + 1, high, some])))
    if setting.type == "number":
        high = min(setting.high, MOST.get(setting.name, setting.high))
        small = setting.low + rng.choice([1e-6, 0.001, 0.1, 0.5]) * min(1, high - setting.low)
        return f"{rng.choice([setting.low, small, small, small, high]):.6g}"
    if setting.name == "target":
        return rng.choice(columns)
    return rng.choice(setting.type.split("|"))


def some_flags(rng, settings, columns):
    share = rng.choice([0, 0.1, 0.3])
    out = []
    for s in settings:
        if s.name in ("from", "schema", "types", "user", "item", "rating", "time", "deterministic"):
            continue
        if s.name not in ("epochs", "min-count") and rng.random() >= share:
            continue
        if s.type == "flag":
            out.append(f"--{'no-' * (s.switch and rng.random() < 0.7)}{s.name}")
        elif s.type != "text" or s.name == "target":
            out += [f"--{s.name}", some_value(rng, s, columns)]
    return out


# --- Questions ---

def csv_rows(data):
    return list(csv.reader(data.splitlines()))


def questions(rng, model, kind, data, flags):
    """Commands for what was trained as m.kith from `data` in the file d."""
    rows = [r for r in csv_rows(data)[1:] if r] or [[""]]
    yield "near", "m.kith", "--queries", "q", "--json"
    yield "export", "m.kith", "--to", rng.choice(FORMATS), "-o", "v.out"
    yield "import", "v.out", "-o", "v.kith"
    yield "info", "v.kith"
    yield "near", "v.kith", "--queries", "q", "--vectors", "sum"
    if kind == "text":
        words = data.split() or ["a"]
        yield "analogy", "m.kith", *rng.choices(words, k=3), "--json"
        yield "odd", "m.kith", *rng.choices(words, k=4)
        yield "similarity", "m.kith", *rng.choices(words, k=2)
        yield "eval", "m.kith", "e", "--json"
    if kind in ("text", "documents"):
        yield "embed", "m.kith", "--json", "--", f"x {rng.choice(data.splitlines() or ['a'])}"
        yield "embed", "m.kith", "d", "-o", "e.kith"
        yield "phrases", "d", "-o", "p.out", "--min-count", "1", "--threshold", "0"
    if kind == "labelled":
        text = rng.choice(data.splitlines() or ["a"])
        yield "predict", "m.kith", "--json", "--top", "3", "--", f"x {text}"
        yield "predict", "m.kith", "d", "--threshold", "0.5"
        yield "eval", "m.kith", "d", "--json"
    if kind == "ratings":
        user, item = (rng.choice(rows) + ["", ""])[:2]
        yield "predict", "m.kith", f"user={user}", f"item={item}", "--json"
        yield "predict", "m.kith", "d"
        yield "recommend", "m.kith", "--json", "--", user
        yield "recommend", "m.kith", "--rated", f"{item}=3"
        yield "recommend", "m.kith", "--rated", f"{item}=1e30", "--include-seen", "--json"
        yield "recommend", "m.kith", "--all"
        yield "eval", "m.kith", "d", "--json"
        yield "eval", model, "d", *flags, "--folds", rng.choice(["2", "3", "10"]), "--json"
        yield "eval", model, "d", *flags, "--split", rng.choice(["user", "time", "random"])
    if kind == "table":
        names = csv_rows(data)[0]
        target = rng.choice(names)
        row = [f"{n}={c}" for n, c in zip(names, rng.choice(rows)) if c and n != target]
        yield "predict", "m.kith", "--target", target, "--json", *(row or [f"{target}=a"])
        yield "predict", "m.kith", "--target", target, "d", "-o", "p.csv"
        yield "near", "m.kith", *(row or [f"{target}=a"]), "--to", target, "--json"
        yield "score", "m.kith", "d", "--json", "--all"
        yield "score", "m.kith", "d", "--name", target
        yield "embed", "m.kith", "d", "--to", rng.choice(FORMATS), "-o", "e.out"
        yield "embed", "m.kith", "d", "-o", "e.kith"
        yield "eval", "m.kith", "d", "--target", target, "--train", "d", "--json"
    yield "update", "m.kith", "u", "-o", "u.kith", "--json"
    yield "info", "u.kith", "--json"
    yield "near", "u.kith", "--queries", "q"
    yield "train", model, "d", "--from", "m.kith", "-o", "f.kith", "--quiet", "--json"
    yield "tune", model, "d", *flags, "--budget", "0.2", "--trials", "3", "--quiet", "--json"


def queries(kind, data):
    """A line for what can be asked of near: words, or values with their column."""
    rows = csv_rows(data)
    if kind in ("text", "labelled", "documents"):
        return data.split()[:3]
    return [f"{name}={cell}" for row in rows[1:3] for name, cell in zip(rows[0], row)
            if cell and name not in ("rating", "time")]


def make_data(rng, kind):
    """Data, and the flags that go with them."""
    if kind == "table":
        data, types = make_table(rng)
        return data, ["--types", ",".join(f"{n}={t}" for n, t in types.items())] if types else []
    make = {"text": make_text, "documents": make_text, "labelled": make_labelled, "ratings": make_ratings}
    return make[kind](rng), []


def one_case(run, rng, model, kind, settings):
    data, flags = make_data(rng, kind)
    columns = csv_rows(data)[0] if kind == "table" else []
    run.write("d", data)
    flags += some_flags(rng, settings, columns)
    flags += ["--threads", rng.choice(["1", "2"])]
    flags += ["--deterministic"] if rng.random() < 0.3 else []
    if columns and "--format" not in flags:
        flags += ["--delimiter", ","]
    trained = run.run("train", model, "d", "-o", "m.kith", *flags, "--json")
    if trained is None or trained.code != kith.DONE:
        return
    if trained.json.get("loss") is None:
        run.fail("exit 0 without a loss")
    info = run.run("info", "m.kith", "--json")
    if info and info.code != kith.DONE:
        run.fail(f"a model that cannot be read: {info.error}")
    run.write("q", "".join(q + "\n" for q in queries(kind, data)))
    if kind == "text":
        run.write("e", "a b 1\nb a 2\n")
    fresh = {"text": "", "documents": "", "labelled": "__label__new a\n",
             "table": ",".join("new" for _ in columns) + "\n", "ratings": "new" + data.splitlines()[-1] + "\n"}
    run.write("u", data + fresh[kind])
    for question in questions(rng, model, kind, data, flags):
        if question[1] in ("v.out", "v.kith", "u.kith") and not (run.folder / question[1]).exists():
            continue  # the command that makes it refused
        told = run.run(*question)
        if told and told.code != kith.DONE and question[0] in ("info", "import"):
            run.fail(f"what was written cannot be read: {told.error}")


# --- The same with --deterministic ---

def variants():
    """Models with each optimiser and loss."""
    optimisers = ["sgd", "momentum", "nesterov", "adagrad", "adam", "adagrad-row"]
    losses = ["squared", "absolute", "huber", "tukey", "logistic", "hinge", "softmax", "nce", "ns"]
    for optimiser, loss in itertools.product(optimisers, losses):
        for target in ([], ["--target", "label"], ["--target", "size"]):
            yield "feat2vec", ["--optimiser", optimiser, "--loss", loss, *target]
    for loss in ["squared", "absolute", "huber", "tukey", "logistic", "hinge", "kl", "bpr"]:
        for adapt in ([], ["--no-adapt"]):
            yield "mf", ["--loss", loss, *adapt]
    for loss, optimiser in itertools.product(["softmax", "one-vs-all", "hierarchical"],
                                             ["adagrad-row", "sgd"]):
        yield "classifier", ["--loss", loss, "--optimiser", optimiser]
    for objective, noise in itertools.product(["skipgram", "cbow"],
                                              ["pool", "window", "pair", "centre"]):
        for gradient in (["exact"], ["reference"]) if objective == "cbow" else (["exact"],):
            yield "word2vec", ["--objective", objective, "--noise", noise, "--gradient", *gradient,
                               "--min-count", "1", "--sample", "0"]


def plain_data(model, rng):
    if model == "word2vec":
        return "".join(" ".join(rng.choices("abcd" if i % 2 else "wxyz", k=8)) + "\n"
                       for i in range(30))
    if model == "classifier":
        return "".join(f"__label__{i % 2} " + " ".join(rng.choices("abcd" if i % 2 else "wxyz", k=8))
                       + "\n" for i in range(30))
    if model == "mf":
        return "user,item,rating\n" + "".join(
            f"u{u},i{i},{(u + i) % 2}\n" for u in range(6) for i in range(6) if rng.random() < 0.8)
    return "kind,label,size\n" + "".join(
        f"{'ab'[k]},{'xyz'[k + rng.randint(0, 1)]},{k * 10 + rng.random():.2f}\n"
        for k in rng.choices([0, 1], k=30))


def same_when_deterministic(run, rng, model, flags):
    run.write("d.csv", plain_data(model, rng))
    flags = [*flags, "--dim", "8", "--epochs", "10", "--quiet", "--json"]
    ends = [run.run("train", model, "d.csv", "-o", "m.kith", *flags, *more)
            for more in (["--threads", "1"], ["--threads", "2"], ["--deterministic"])]
    if None in ends:
        return
    if len({end.code for end in ends}) > 1:
        run.fail(f"one ends with {ends[0].code}, with --deterministic {ends[2].code}: "
                 f"{ends[0].error} {ends[2].error}")
    elif ends[0].code == kith.DONE:
        a, b, c = (end.json["loss"] for end in ends)
        if max(a, b, c) > 1000:  # these data give a few units
            run.fail(f"done, but the loss ran away: {a:.4g}, {b:.4g}, {c:.4g}")
        elif abs(a - c) > 0.5 * min(abs(a), abs(c)) + 0.05:
            run.fail(f"the loss is {a:.4g}, with two threads {b:.4g}, with --deterministic {c:.4g}")


def main():
    run = campaign.Campaign(__doc__, 15)
    kinds = campaign.models(run)

    @functools.cache
    def settings_of(model):
        run.begin()
        data = run.write("r", "user,item,rating\na,b,1\nb,b,2\nb,c,1\n")
        run.cases -= 1
        return [campaign.find_range(run, model, data, s) if s.type in ("int", "number") else s
                for s in campaign.settings(run, model)]

    pairs = list(variants())
    for k in range(run.options.count):
        seed = run.options.seed + k
        rng = random.Random(seed)
        repeat = f"tiny.py --count 1 --seed {seed}"
        if seed % 5 == 0:
            run.begin(repeat)
            same_when_deterministic(run, rng, *pairs[seed // 5 % len(pairs)])
            continue
        model = list(kinds)[seed % len(kinds)]
        settings = settings_of(model)
        run.begin(repeat)
        one_case(run, rng, model, kinds[model], settings)
    run.finish()


if __name__ == "__main__":
    main()
