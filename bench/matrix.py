#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rows of numbers, side by side with Debian's scikit-learn: quality, CPU time, peak memory.

pca: rows of 256 floats whose variances fall like 1 / k (no gap), at three sizes, to 50 components;
scikit-learn reads the same .npy file and takes its randomised solver. Both are timed as whole
programs on one thread. Quality is the share of the variance kept: of the spectrum that 50
directions can keep at most, how much is missing. Each case has what is expected of it; the program
fails if that is not met.

gmm: rows of 32 floats from 32 overlapping normal distributions, at three sizes, to 32 components
with full covariances. Both have their defaults, but for the tolerance: each calls little what is
below 1e-3 nats a row, scikit-learn of a sweep, Kith of all sweeps to come, a tenth of that. So
scikit-learn starts once and Kith ten times, which with 10,000 rows takes most of its time. Quality
is the mean log-likelihood of a row, in nats. Times are of whole programs again.
"""
import argparse
import pathlib
import subprocess
import sys

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


# In a process of its own: what this one holds would count as the peak of those that it starts.
MAKE_ROWS = """
import sys, numpy
path, rows, columns = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
rng = numpy.random.default_rng(1)
axes = numpy.linalg.qr(rng.normal(size=(columns, columns)))[0]
mix = ((1 / numpy.sqrt(numpy.arange(1, columns + 1)))[:, None] * axes.T).astype(numpy.float32)
with open(path, "wb") as file:
    numpy.lib.format.write_array_header_1_0(
        file, {"descr": "<f4", "fortran_order": False, "shape": (rows, columns)})
    for first in range(0, rows, 10_000):
        n = min(10_000, rows - first)
        file.write((rng.standard_normal((n, columns), numpy.float32) @ mix + 3).tobytes())
"""


def make_rows(args, path, rows):
    """Independent directions that are not the axes."""
    subprocess.run([args.python, "-c", MAKE_ROWS, path, str(rows), str(COLUMNS)], check=True)

GMM_COLUMNS, COMPONENTS = 32, 32
GMM_SIZES = (10_000, 100_000, 300_000)
TIMES_LESS = {10_000: 0.5, 100_000: 5, 300_000: 10}  # CPU than scikit-learn, by rows
SKLEARN_GMM = """
import sys, numpy, sklearn.mixture
data = numpy.load(sys.argv[1])
model = sklearn.mixture.GaussianMixture(int(sys.argv[2]), random_state=1)
model.fit(data)
print(model.score(data), model.n_iter_)
"""


# As many normal distributions as components, whose means are about as far apart as they are wide.
MAKE_MIXTURE = """
import sys, numpy
path, rows, columns, components = sys.argv[1], *map(int, sys.argv[2:])
rng = numpy.random.default_rng(1)
means = rng.normal(size=(components, columns)) * 0.7
roots = numpy.tril(rng.normal(size=(components, columns, columns))) * 0.2
roots += numpy.eye(columns) * rng.uniform(0.5, 1.5, size=(components, 1, columns))
which = rng.integers(components, size=rows)
data = numpy.empty((rows, columns), numpy.float32)
for k in range(components):
    own = which == k
    data[own] = means[k] + rng.normal(size=(own.sum(), columns)) @ roots[k].T
numpy.save(path, data)
"""


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
        make_rows(args, source, rows)
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


def sklearn_gmm(args, source):
    figures, out = timed([*one_thread(), args.python, "-W", "ignore", "-c", SKLEARN_GMM, source,
                          COMPONENTS], args.out / "sklearn.log")
    loglik, sweeps = out.split()
    return figures | {"loglik": float(loglik), "sweeps": int(sweeps)}


def kith_gmm(args, source):
    model = args.out / "gmm.kith"
    figures, _ = timed([args.kith, "train", "gmm", source, "-o", model, "--components", COMPONENTS,
                        "--tolerance", 1e-4, "--threads", 1, "--quiet", "--json"],
                       args.out / "kith.log")
    return figures | {"loglik": told([args.kith, "eval", model, source, "--json"])["loglik_per_row"],
                      "sweeps": round(told([args.kith, "info", model, "--json"])["facts"]["sweeps"])}


def bench_gmm(args):
    met = True
    print("| rows of 32, 32 components | tool | log-likelihood of a row | sweeps | CPU s | peak MB |\n"
          "|---|---|---|---|---|---|")
    for rows in GMM_SIZES[:1] if args.quick else GMM_SIZES:
        source = args.out / "mixture.npy"
        subprocess.run([args.python, "-c", MAKE_MIXTURE, str(source), str(rows), str(GMM_COLUMNS),
                        str(COMPONENTS)], check=True)
        theirs, ours = sklearn_gmm(args, source), kith_gmm(args, source)
        for tool, r in (("scikit-learn", theirs), ("kith", ours)):
            print(f"| {rows:,} | {tool} | {r['loglik']:.4f} | {r['sweeps']} | {r['cpu']:.2f} | "
                  f"{r['peak_mb']:.0f} |", flush=True)
        good = (ours["cpu"] * TIMES_LESS[rows] <= theirs["cpu"]
                and ours["loglik"] >= theirs["loglik"] - 1e-3)
        met = met and good
        print(f"bench: {rows:,} rows: {theirs['cpu'] / ours['cpu']:.1f} times less CPU, "
              f"{ours['loglik'] - theirs['loglik']:+.4f} nats a row: "
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


PARTS = {"pca": bench_pca, "gmm": bench_gmm}

if __name__ == "__main__":
    sys.exit(main())
