#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rows of numbers, side by side with Debian's scikit-learn: quality, CPU time, peak memory.

pca: rows of 256 floats whose variances fall like 1 / k (no gap), at three sizes, to 50 components;
scikit-learn reads the same .npy file and takes its randomised solver. Both are timed as whole
programs on one thread. Quality is the share of the variance kept: of the spectrum that 50
directions can keep at most, how much is missing. Each case has what is expected of it; the program
fails if that is not met.
"""
import argparse
import pathlib
import sys

import numpy as np

from run import timed, told

COLUMNS, DIM = 256, 50
SIZES = (10_000, 100_000, 1_000_000)
MOST_MB = 300
SKLEARN_PCA = """
import sys, numpy, sklearn.decomposition
data = numpy.load(sys.argv[1])
pca = sklearn.decomposition.PCA(int(sys.argv[2]), svd_solver=sys.argv[3], random_state=1)
pca.fit(data)
print(pca.explained_variance_ratio_.sum())
"""


def make_rows(path, rows):
    """Independent directions that are not the axes, written piece by piece."""
    rng = np.random.default_rng(1)
    axes = np.linalg.qr(rng.normal(size=(COLUMNS, COLUMNS)))[0]
    mix = ((1 / np.sqrt(np.arange(1, COLUMNS + 1)))[:, None] * axes.T).astype(np.float32)
    data = np.lib.format.open_memmap(path, "w+", np.float32, (rows, COLUMNS))
    for first in range(0, rows, 10_000):
        n = min(10_000, rows - first)
        data[first:first + n] = rng.standard_normal((n, COLUMNS), np.float32) @ mix + 3
    data.flush()


def one_thread():
    """For the libraries below scikit-learn."""
    return ["env", "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1"]


def sklearn_pca(args, source, solver):
    figures, out = timed([*one_thread(), args.python, "-c", SKLEARN_PCA, source, DIM, solver],
                         args.out / "sklearn.log")
    return figures | {"kept": float(out)}


def kith_pca(args, source, *flags):
    model = args.out / "pca.kith"
    figures, _ = timed([args.kith, "train", "pca", source, "-o", model, "--dim", DIM, "--threads",
                        1, "--quiet", *flags], args.out / "kith.log")
    return figures | {"kept": told([args.kith, "info", model, "--json"])["facts"]["explained"]}


def bench_pca(args):
    met = True
    print("| rows of 256 | tool | variance kept | CPU s | peak MB |\n|---|---|---|---|---|")
    for rows in SIZES[:1] if args.quick else SIZES:
        source = args.out / "rows.npy"
        make_rows(source, rows)
        theirs = sklearn_pca(args, source, "randomized")
        ours = {method: kith_pca(args, source, "--method", method)
                for method in ("exact", "randomised")}
        for tool, r in (("scikit-learn, randomised", theirs),
                        *((f"kith, {method}", r) for method, r in ours.items())):
            print(f"| {rows:,} | {tool} | {r['kept']:.5f} | {r['cpu']:.2f} | {r['peak_mb']:.0f} |",
                  flush=True)
        exact = ours["exact"]
        good = (exact["cpu"] <= theirs["cpu"] and exact["kept"] >= theirs["kept"] - 1e-5
                and exact["peak_mb"] < MOST_MB)
        met = met and good
        print(f"bench: {rows:,} rows: {theirs['cpu'] / exact['cpu']:.1f} times less CPU, "
              f"{exact['kept'] - theirs['kept']:+.5f} of the variance: "
              f"{'met' if good else 'NOT MET'}", file=sys.stderr)
        source.unlink()
    return met


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/release"))
    parser.add_argument("--data", type=pathlib.Path, help="real data; see bench/README.md")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("build/bench"))
    parser.add_argument("--only", choices=PARTS, help="one part")
    parser.add_argument("--quick", action="store_true", help="the smallest size alone")
    parser.add_argument("--python", default="/usr/bin/python3", help="that has scikit-learn")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    args.kith = args.build / "kith"
    results = [part(args) for name, part in PARTS.items() if args.only in (None, name)]
    return 0 if all(results) else 1


PARTS = {"pca": bench_pca}

if __name__ == "__main__":
    sys.exit(main())
