#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures feat2vec: how well it fills a column of real films, and what it costs on generated tables.

Quality: DATA/movies/{train,test}.csv.zst. The director of each test film is to be found among all
directors; three seeds, averaged. Cost: tables of bench_make_table at three sizes.
"""
import argparse
import collections
import csv
import json
import os
import pathlib
import random
import subprocess
import sys
import time

GIVEN = "title,year,genres,cast"


class Bench:
    def __init__(self, options):
        self.kith = options.build / "kith"
        self.make_table = options.build / "bench_make_table"
        self.out = options.out
        self.data = options.data
        self.rows = []
        self.expected = []
        self.out.mkdir(parents=True, exist_ok=True)

    def run(self, *args):
        """Runs kith; standard output, wall and CPU seconds, peak memory in MB."""
        start = time.monotonic()
        with subprocess.Popen([self.kith, *map(str, args)], stdout=subprocess.PIPE,
                              text=True) as process:
            text = process.stdout.read()
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            sys.exit(f"bench: kith {' '.join(map(str, args))} failed")
        return text, time.monotonic() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024

    def train(self, name, table, *flags):
        model = self.out / f"{name}.kith"
        (self.out / f"{name}.schema.json").unlink(missing_ok=True)
        text, wall, cpu, peak = self.run("train", "feat2vec", table, "-o", model, "--json", "-q", *flags)
        return model, json.loads(text), wall, cpu, peak

    def eval(self, model, test, *flags):
        return json.loads(self.run("eval", model, test, "--json", *flags)[0])

    def say(self, what, figures):
        self.rows.append((what, figures))
        print(f"bench: {what}: {figures}", flush=True)

    def expect(self, what, measured, at_least=None, at_most=None):
        met = (at_least is None or measured >= at_least) and (at_most is None or measured <= at_most)
        bound = f">= {at_least}" if at_least is not None else f"<= {at_most}"
        self.expected.append((what, bound, f"{measured:.4g}", "met" if met else "**not met**"))


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def unpack(bench):
    folder = bench.out / "movies"
    folder.mkdir(exist_ok=True)
    for name in ("train", "test"):
        with open(folder / f"{name}.csv", "wb") as out:
            subprocess.run(["zstd", "-dc", bench.data / "movies" / f"{name}.csv.zst"], stdout=out,
                           check=True)
    return folder / "train.csv", folder / "test.csv"


def figures_of(results):
    return (f"MRR {mean(r['mrr'] for r in results):.4f}, mean percentile rank "
            f"{mean(r['mpr'] for r in results):.4f}, hit@1 {mean(r['hit1'] for r in results):.4f}, "
            f"hit@10 {mean(r['hit10'] for r in results):.4f}")


def quality(bench):
    train, test = unpack(bench)
    cast, every, years = [], [], []
    for seed in (1, 2, 3):
        model, _, wall, cpu, _ = bench.train("films", train, "--types", "text=ignore", "--seed", seed)
        more = ["--train", train] if seed == 1 else []
        cast.append(bench.eval(model, test, "--target", "director", "--given", "cast", *more))
        every.append(bench.eval(model, test, "--target", "director", "--given", GIVEN, *more))
        years.append(bench.eval(model, test, "--target", "year"))
        bench.say(f"self-supervised training, seed {seed}", f"{cpu:.1f} CPU s, {wall:.1f} s")
    bench.say("cast -> director", figures_of(cast))
    bench.say("title, year, genres, cast -> director", figures_of(every))
    for name in ("popularity", "random", "skip-gram"):
        bench.say(f"  {name}: cast", figures_of([cast[0]["baselines"][name]]))
        bench.say(f"  {name}: all", figures_of([every[0]["baselines"][name]]))
    bench.expect("self-supervised, cast: MRR", mean(r["mrr"] for r in cast), at_least=.155)
    bench.expect("self-supervised, all: MRR", mean(r["mrr"] for r in every), at_least=.142)
    bench.expect("self-supervised, all: mean percentile rank", mean(r["mpr"] for r in every),
                 at_most=.042)
    error = mean(r["median_error"] for r in years)
    bench.say("year from the other columns",
              f"median error {error:.2f} years, RMSE {mean(r['rmse'] for r in years):.2f} "
              f"(always the median: {years[0]['baselines']['median']['median_error']:.1f})")
    bench.expect("year: median error", error, at_most=4)

    for name, types, least in (("without text", ["--types", "text=ignore"], .155),
                               ("with text", [], .165)):
        results = []
        for seed in (1, 2, 3):
            model, *_ = bench.train("supervised", train, "--target", "director", "--seed", seed,
                                    *types)
            results.append(bench.eval(model, test, "--target", "director"))
        bench.say(f"supervised, {name} -> director", figures_of(results))
        bench.expect(f"supervised, {name}: MRR", mean(r["mrr"] for r in results), at_least=least)
    model, *_ = bench.train("paper", train, "--types", "text=ignore", "--paper", "--epochs", "10")
    bench.say("the published setting (--paper), cast -> director",
              figures_of([bench.eval(model, test, "--target", "director", "--given", "cast")]))


def unzstd(path):
    return subprocess.run(["zstd", "-dc", path], capture_output=True, check=True).stdout


def write_csv(path, header, rows):
    with open(path, "w", encoding="utf-8", newline="") as file:
        out = csv.writer(file)
        out.writerow(header)
        out.writerows(rows)
    return path


def labelled(bench, name):
    """A file of sentences behind their labels, as a table."""
    with open(bench.data / "labels" / name, encoding="latin-1") as file:
        return write_csv(bench.out / f"{name}.csv", ["label", "text"],
                         (["c" + label, text.strip()]
                          for label, text in (line.split(" ", 1) for line in file)))


def first_genres(bench, path):
    """Films with the first of their genres, and without their text."""
    with open(path, encoding="utf-8", newline="") as file:
        rows = [[r["title"], r["year"], r["genres"].split("|")[0], r["cast"], r["director"]]
                for r in csv.DictReader(file)]
    return write_csv(bench.out / f"genre-{path.name}", ["title", "year", "genre", "cast", "director"],
                     [r for r in rows if r[2]])


def rated_films(bench):
    """MovieTweetings with the year and the genres of each film: a tenth to test."""
    films = {}
    for line in unzstd(bench.data / "ratings/movietweetings-movies.dat.zst").decode().splitlines():
        item, title, genres = line.split("::")
        films[item] = [title.rsplit("(", 1)[-1].rstrip(")"), genres]
    rows = [line.split("::") for line in
            unzstd(bench.data / "ratings/movietweetings-100k.dat.zst").decode().splitlines()]
    random.Random(1).shuffle(rows)
    header, tenth = ["user", "item", "year", "genres", "rating"], len(rows) // 10
    paths = []
    for name, part in (("train", rows[tenth:]), ("test", rows[:tenth])):
        paths.append(write_csv(bench.out / f"tweets-{name}.csv", header, (
            ["u" + user, "f" + item, *films.get(item, ["", ""]), rating]
            for user, item, rating, _ in part)))
    return paths


def table_peers(train, test, target, flags):
    """What a linear model, and trees, make of the same table."""
    script = pathlib.Path(__file__).with_name("table_peers.py")
    one = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, script, train, test, target, *map(str, flags)], check=True,
                          capture_output=True, text=True, env=one)
    return [json.loads(line) for line in done.stdout.splitlines()]


def targets(bench):
    """Columns to predict: what was held back decides when to stop. Three seeds, averaged."""
    adult = []
    for name in ("train", "test"):
        adult.append(bench.out / f"adult-{name}.csv")
        adult[-1].write_bytes(unzstd(bench.data / f"tables/adult-{name}.csv.zst"))
    films = [first_genres(bench, path) for path in unpack(bench)]
    texts = ["--texts", "text", "--c", 20, "--linear-only"]
    few = (
        ("Adult, income", adult, "income-per-year", .864, {"auc": .917}, []),
        ("films, first genre", films, "genre", .565, {"log_loss": -1.50},
         ["--sets", "cast", "--texts", "title", "--linear-only"]),
        ("SST-2", [labelled(bench, f"stsa.binary.{n}") for n in ("train", "test")], "label", .82, {},
         texts),
        ("TREC", [labelled(bench, f"TREC.{n}.all") for n in ("train", "test")], "label", .87, {}, texts),
    )
    for name, (train, test), target, accuracy, more, peers in few:
        results = []
        for seed in (1, 2, 3):
            model, _, _, cpu, _ = bench.train("target", train, "--target", target, "--seed", seed)
            beside = ["--train", train] if seed == 1 else []
            results.append(bench.eval(model, test, *beside))
        shown = [m for m in ("accuracy", "auc", "log_loss", "calibration_error") if m in results[0]]
        bench.say(f"{name}, {cpu:.1f} CPU s",
                  ", ".join(f"{m} {mean(r[m] for r in results):.4f}" for m in shown))
        for way, found in results[0]["baselines"].items():
            if "accuracy" in found:
                bench.say(f"  {way}", ", ".join(f"{m} {found[m]:.4f}" for m in shown if m in found))
        for found in table_peers(train, test, target, peers):
            bench.say(f"  {found['tool']}, {found['cpu']:.1f} CPU s",
                      ", ".join(f"{m} {found[m]:.4f}" for m in shown if m in found))
        bench.expect(f"{name}: accuracy", mean(r["accuracy"] for r in results), at_least=accuracy)
        for measure, bound in more.items():
            value = mean(r[measure] for r in results)
            side = "at_least" if bound > 0 else "at_most"
            bench.expect(f"{name}: {measure}", value, **{side: abs(bound)})
    years = []
    for seed in (1, 2, 3):
        model, *_ = bench.train("target", unpack(bench)[0], "--target", "year", "--types",
                                "text=ignore", "--seed", seed)
        years.append(bench.eval(model, bench.out / "movies/test.csv"))
    error = mean(r["rmse"] for r in years)
    bench.say("films, year", f"RMSE {error:.2f}, median error "
              f"{mean(r['median_error'] for r in years):.2f}")
    bench.expect("films, year: RMSE", error, at_most=5.3)
    train, test = rated_films(bench)
    results = []
    for seed in (1, 2, 3):
        model, *_ = bench.train("target", train, "--target", "rating", "--types", "rating=number",
                                "--seed", seed)
        results.append(bench.eval(model, test)["rmse"])
    als = bench.out / "als.kith"
    bench.run("train", "als", train, "-o", als, "-q")
    other = bench.eval(als, test)
    bench.say("MovieTweetings, rating from user, film, year, genres",
              f"RMSE {mean(results):.4f}; als {other['rmse']:.4f}, biases "
              f"{other['baselines']['biases']['rmse']:.4f}")
    bench.expect("MovieTweetings: RMSE", mean(results), at_most=other["rmse"])


def cold_start(bench):
    """400 directors of 3 to 20 films are taken out of training. All but the last of their films
    describe them (kith update); the last is the question, the 400 are the candidates."""
    train, test = unpack(bench)
    films = collections.defaultdict(list)
    for path in (train, test):
        with open(path, encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                films[row["director"]].append(row)
    scores = []
    for seed in (1, 2, 3):
        some = sorted(d for d, f in films.items() if 3 <= len(f) <= 20)
        random.Random(seed).shuffle(some)
        new = set(some[:400])
        paths = {}
        for name, rows in (("known", [r for d, f in films.items() if d not in new for r in f]),
                           ("new", [r for d in sorted(new) for r in films[d][:-1]]),
                           ("asked", [films[d][-1] for d in sorted(new)])):
            paths[name] = bench.out / f"cold-{name}.csv"
            with open(paths[name], "w", encoding="utf-8", newline="") as file:
                out = csv.DictWriter(file, GIVEN.split(",") + ["director"], extrasaction="ignore")
                out.writeheader()
                out.writerows(rows)
        model, *_ = bench.train("cold", paths["known"], "--seed", seed)
        grown = bench.out / "cold-grown.kith"
        bench.run("update", model, paths["new"], "-o", grown, "--json")
        text, *_ = bench.run("predict", grown, paths["asked"], "--target", "director", "--top", 20000,
                             "--json")
        for director, line in zip(sorted(new), text.splitlines()):
            names = [p["id"] for p in json.loads(line)["predictions"] if p["id"] in new]
            scores.append(1 / (names.index(director) + 1))
    bench.say("cold start: 400 unseen directors among themselves", f"MRR {mean(scores):.4f}")
    bench.expect("cold start: MRR", mean(scores), at_least=.19)


def table_of(bench, rows, columns=8, values=5500):  # 44,000 in all, as the films have
    path = bench.out / f"generated-{rows}-{columns}-{values}.csv"
    if not path.exists():
        with open(path, "wb") as out:
            subprocess.run([bench.make_table, str(rows), str(columns), str(values)], stdout=out,
                           check=True)
    return path


def cost(bench):
    base = {"--dim": 64, "--negatives": 20, "--epochs": 2, "--threads": 1}

    def measure(path, **changes):
        flags = {**base, **{f"--{k}": v for k, v in changes.items()}}
        _, summary, wall, cpu, peak = bench.train(
            "cost", path, "--no-biases", *[x for pair in flags.items() for x in pair])
        # Of the epochs alone; what follows them (the maps of cold start) does not grow with the table.
        return summary["rows_per_second"] * flags["--negatives"], summary, wall, cpu, peak

    for rows in (250_000, 500_000, 1_000_000):
        rate, summary, *_ = measure(table_of(bench, rows))
        bench.say(f"{rows:,} rows, 8 columns, k 20, r 64",
                  f"{rate / 1e6:.1f} M pairs/s, {rows / summary['rows_per_second']:.2f} s an epoch")
    bench.expect("million (row, noise) pairs/s on one core", rate / 1e6, at_least=10)
    for name, values in (("negatives", (10, 20, 40)), ("dim", (32, 64, 128))):
        for value in values:
            rate, summary, *_ = measure(table_of(bench, 500_000), **{name: value})
            bench.say(f"500,000 rows, --{name} {value}",
                      f"{rate / 1e6:.1f} M pairs/s, "
                      f"{500_000 / summary['rows_per_second']:.2f} s an epoch")
    for columns in (4, 8, 16):
        rate, summary, *_ = measure(table_of(bench, 500_000, columns))
        bench.say(f"500,000 rows, {columns} columns",
                  f"{rate / 1e6:.1f} M pairs/s, "
                      f"{500_000 / summary['rows_per_second']:.2f} s an epoch")


def large(bench):
    path = table_of(bench, 10_000_000)
    model, summary, wall, cpu, peak = bench.train("large", path, "--dim", 64, "--negatives", 20,
                                                  "--epochs", 1, "--threads", 2)
    bench.say("10 million rows of 8 columns, one epoch, two threads",
              f"{summary['training_seconds']:.1f} s of training, {wall:.1f} s in all, {cpu:.1f} CPU s, "
              f"peak {peak:.0f} MB")
    bench.expect("10 million rows: seconds an epoch", summary["training_seconds"], at_most=30)
    bench.expect("10 million rows: peak memory, GB", peak / 1024, at_most=3)
    _, wall, cpu, peak = bench.run("embed", model, table_of(bench, 1_000_000), "--to", "npy", "-o",
                                   bench.out / "rows.npy", "-q")
    bench.say("a million rows embedded", f"{wall:.1f} s, {cpu:.1f} CPU s, peak {peak:.0f} MB")
    bench.expect("embedding a million rows, seconds", wall, at_most=5)


PARTS = {"quality": quality, "targets": targets, "cold": cold_start, "cost": cost, "large": large}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/release"))
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("build/bench"))
    parser.add_argument("--only", action="append", choices=PARTS, help="some parts only")
    options = parser.parse_args()
    bench = Bench(options)
    for name in options.only or PARTS:
        PARTS[name](bench)
    lines = ["| what | measured |", "|---|---|", *[f"| {a} | {b} |" for a, b in bench.rows], "",
             "| expectation | bound | measured | |", "|---|---|---|---|",
             *["| " + " | ".join(e) + " |" for e in bench.expected], ""]
    (options.out / "tables.md").write_text("\n".join(lines), encoding="utf-8")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
