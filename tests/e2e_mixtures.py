#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Mixtures of normal distributions, and pictures of training, as a user has them."""
import csv
import json
import math
import signal
import struct
import time
import xml.etree.ElementTree

import numpy as np

import kith

SVG = "{http://www.w3.org/2000/svg}"


def groups(rows=600, seed=1, cols=2):
    """Three groups, well apart, and which row belongs to which."""
    rng = np.random.default_rng(seed)
    which = rng.choice(3, rows, p=(0.5, 0.3, 0.2))
    centres = np.array([[0, 0], [8, 1], [2, 9]])[which]
    x = centres + rng.normal(size=(rows, 2)) * np.array([[1, 0.5], [0.4, 1], [2, 0.25]])[which]
    return np.hstack([x, rng.normal(size=(rows, cols - 2)) + x[:, :1]]), which


def log_density(x, tensors, full=True):
    """The mixture's, by the textbook."""
    w, d = tensors["weights"], x.shape[1]
    m, s = tensors["means"].reshape(-1, d), tensors["covariances"].reshape(-1, d, d)
    joint = []
    for k in range(len(w)):
        r = x - m[k]
        square = np.einsum("ni,ij,nj->n", r, np.linalg.inv(s[k]), r)
        joint.append(math.log(w[k]) - 0.5 * (square + np.linalg.slogdet(s[k])[1]
                                             + d * math.log(2 * math.pi)))
    return np.array(joint).T


class Mixtures(kith.TestCase):
    def table(self, x, name="x.csv", header="across,upwards,third,fourth"):
        head = "id," + ",".join(header.split(",")[:x.shape[1]])
        lines = [head] + [f"r{i}," + ",".join(repr(float(v)) for v in row)
                          for i, row in enumerate(x)]
        return self.write(name, "\n".join(lines) + "\n")

    def train(self, source, *flags, name="g.kith"):
        model = self.path(name)
        self.ok("train", "gmm", source, "-o", model, "--quiet", *flags)
        return model

    def tensors(self, model):
        data = model.read_bytes()
        size = struct.unpack("<Q", data[:8])[0]
        types = {"F64": np.float64, "F32": np.float32, "U8": np.uint8, "U64": np.uint64}
        return {name: np.frombuffer(data[8 + size:][t["data_offsets"][0]:t["data_offsets"][1]],
                                    types[t["dtype"]])
                for name, t in json.loads(data[8:8 + size]).items() if name != "__metadata__"}

    def drawn(self, path):
        return xml.etree.ElementTree.parse(path).getroot()

    def test_it_finds_the_groups_and_how_many_there_are(self):
        x, which = groups()
        model = self.train(self.table(x), "--id", "id")
        found = self.ok("clusters", model, self.path("x.csv"), "--id", "id", "--json").json
        self.assertEqual(len(found["clusters"]), 3)
        self.assertEqual([c["rows"] for c in found["clusters"]],
                         sorted(np.bincount(which).tolist(), reverse=True))
        for c in found["clusters"]:
            own = {which[int(r["row"][1:])] for r in c["typical"]}
            self.assertEqual(len(own), 1)
        self.assertEqual(found["rows"], 600)

    def test_memberships_are_those_of_the_file(self):
        x, _ = groups(300)
        x *= 3  # other units than those of the frame
        model = self.train(self.table(x), "--id", "id", "--components", 3)
        joint = log_density(x, self.tensors(model))
        top = joint.max(axis=1, keepdims=True)
        r = np.exp(joint - top)
        r /= r.sum(axis=1, keepdims=True)
        self.ok("embed", model, self.path("x.csv"), "--id", "id", "-o", self.path("m.npy"))
        self.assertLess(np.abs(np.load(self.path("m.npy")) - r).max(), 1e-5)

    def test_eval_is_the_likelihood_beside_that_of_one_component(self):
        x, _ = groups(500)
        new, _ = groups(200, seed=5)
        model = self.train(self.table(x), "--id", "id", "--components", 3)
        report = self.ok("eval", model, self.table(new, "new.csv"), "--id", "id", "--json").json
        joint = log_density(new, self.tensors(model))
        total = np.logaddexp.reduce(joint, axis=1).sum()
        self.assertAlmostEqual(report["loglik"], total, delta=1e-6 * abs(total))
        self.assertAlmostEqual(report["loglik_per_row"], total / 200, places=5)
        free = 2 + 3 * 2 + 3 * 3
        self.assertAlmostEqual(report["bic"], -2 * total + free * math.log(200), places=2)
        self.assertAlmostEqual(report["aic"], -2 * total + 2 * free, places=2)
        one = {"weights": np.ones(1), "means": x.mean(axis=0), "covariances": np.cov(x.T, ddof=0)}
        alone = log_density(new, one).sum()
        self.assertAlmostEqual(report["baselines"]["one_component"]["loglik"], alone,
                               delta=1e-4 * abs(alone))
        self.assertGreater(report["loglik"], alone + 100)

    def test_doubtful_and_odd_rows_are_told(self):
        rng = np.random.default_rng(3)
        x = np.concatenate([rng.normal(size=(100, 2)) - [4, 0], rng.normal(size=(100, 2)) + [4, 0],
                            [[0, 0.1]], [[-4, 9]]])
        model = self.train(self.table(x), "--id", "id", "--components", 2, "--covariance", "tied")
        found = self.ok("clusters", model, self.path("x.csv"), "--id", "id", "--json").json
        self.assertEqual(found["odd"][0]["row"], "r201")
        self.assertEqual(found["doubtful"][0]["row"], "r200")
        self.assertEqual({found["doubtful"][0]["cluster"], found["doubtful"][0]["second"]}, {1, 2})
        text = self.ok("clusters", model, self.path("x.csv"), "--id", "id").out
        self.assertRegex(text, r"odd +cluster")
        self.assertIn("r201", text)

    def test_what_sets_a_cluster_apart_comes_first(self):
        rng = np.random.default_rng(3)
        x = rng.normal(size=(400, 4))
        x[:100, 2] += 12
        model = self.train(self.table(x), "--id", "id", "--components", 2)
        small = self.ok("clusters", model, "--json", "--top", 2).json["clusters"][1]
        self.assertEqual(small["columns"][0]["column"], "third")
        self.assertAlmostEqual(small["columns"][0]["mean"], x[:100, 2].mean(), places=2)
        self.assertAlmostEqual(small["columns"][0]["deviation"], x[:100, 2].std(), places=2)
        self.assertAlmostEqual(small["columns"][0]["all"], x[:, 2].mean(), places=2)
        apart = (x[:100, 2].mean() - x[:, 2].mean()) / x[:, 2].std()
        self.assertAlmostEqual(small["columns"][0]["apart"], apart, places=1)
        self.assertEqual(len(small["columns"]), 2)

    def test_a_picture_has_rows_and_two_ellipses_a_cluster(self):
        for cols in (1, 2, 4):
            x = groups(300, cols=4)[0][:, :cols]
            model = self.train(self.table(x, header="a<b,upwards,third,fourth"), "--id", "id",
                               "--components", 3)
            picture = self.path("c.svg")
            self.ok("clusters", model, self.path("x.csv"), "--id", "id", "--plot", picture)
            root = self.drawn(picture)
            self.assertGreaterEqual(len(root.findall(SVG + "circle")), 300)
            self.assertEqual(len(root.findall(SVG + "polyline")), 6)
            titles = [t.text for t in root.findall(SVG + "text")]
            self.assertIn("3 clusters of 300 rows", titles)
            if cols == 2:
                self.assertIn("a<b", titles)
                self.assertIn("upwards", titles)
            # Rows stand around the ellipses of their clusters: most of them within the outer ones.
            corners = [[float(c.split(",")[0]) for c in line.get("points").split()]
                       for line in root.findall(SVG + "polyline")]
            dots = [float(d.get("cx")) for d in root.findall(SVG + "circle")][:300]
            low, high = min(map(min, corners)), max(map(max, corners))
            self.assertGreater(sum(low <= x <= high for x in dots), 270)
            self.assertLess(min(dots), low + 0.3 * (high - low))
            self.assertGreater(max(dots), high - 0.3 * (high - low))
            for element in root.iter():
                for key in ("cx", "cy", "points"):
                    for number in element.get(key, "0").replace(",", " ").split():
                        self.assertTrue(0 <= float(number) <= 800, (key, number))

    def test_threads_do_not_matter(self):
        source = self.table(groups(5000)[0])
        files = [self.train(source, "--id", "id", "--threads", n, name=f"{n}.kith",
                            *("--components", 3, "--holdout", 0.1)).read_bytes()
                 for n in (1, 2, 8)]
        self.assertEqual(files[0], files[1])
        self.assertEqual(files[0], files[2])

    def test_interrupted_and_resumed_the_file_is_the_same(self):
        rng = np.random.default_rng(1)
        np.save(self.path("x.npy"), rng.normal(size=(20000, 12)).astype(np.float32))
        flags = ("--components", 8, "--restarts", 3, "--epochs", 60, "--tolerance", 0,
                 "--threads", 1, "--quiet")
        self.ok("train", "gmm", self.path("x.npy"), "-o", self.path("whole.kith"), *flags)
        args = ("train", "gmm", self.path("x.npy"), "-o", self.path("g.kith"), *flags)
        stops = 0
        for _ in range(100):
            process = kith.start(*args, "--resume")
            try:
                process.communicate(timeout=0.2 + 0.05 * stops)
            except kith.subprocess.TimeoutExpired:
                process.send_signal(signal.SIGINT)
                began = time.monotonic()
                process.communicate()
                self.assertLess(time.monotonic() - began, 20)
            stops += process.returncode == kith.INTERRUPTED
            self.assertIn(process.returncode, (kith.DONE, kith.INTERRUPTED))
            if process.returncode == kith.DONE:
                break
        self.assertEqual(process.returncode, kith.DONE)
        self.assertEqual(self.path("g.kith").read_bytes(), self.path("whole.kith").read_bytes())

    def test_what_is_held_out_is_shown(self):
        x, _ = groups(1000)
        result = self.ok("train", "gmm", self.table(x), "-o", self.path("g.kith"), "--id", "id",
                         "--components", 3, "--holdout", 0.2)
        self.assertRegex(result.err, r"epoch +1/\d+  loss \d\.\d+  held-out \d\.\d+")

    def test_collapse_and_constant_columns_are_said(self):
        x = np.repeat([[1.0, 2.0, 7.0], [5.0, -3.0, 7.0]], 50, axis=0)
        result = self.ok("train", "gmm", self.table(x), "-o", self.path("g.kith"), "--id", "id",
                         "--components", 2)
        self.assertIn("1 column is the same in every row and left out: third", result.err)
        self.assertIn("--regularise", result.err)
        self.assertTrue(np.isfinite(self.tensors(self.path("g.kith"))["covariances"]).all())

    def test_bad_requests_are_refused(self):
        x, _ = groups(10)
        source = self.table(x)
        def refused(*flags, **how):
            return self.refused("train", "gmm", source, "-o", self.path("g.kith"), "--id", "id",
                                *flags, **how)
        refused("--components", 11, says="10 rows are fewer than 11 components")
        refused("--components", 0, code=kith.BAD_USAGE, says="components must be between 1 and")
        refused("--components", 2, "--method", "kmeans", "--covariance", "full",
                code=kith.BAD_USAGE, says="--covariance full is for --method em")
        self.assertFalse(self.path("g.kith").exists())
        bad = self.write("bad.csv", "a,b\n1,2\n3,nan\n5,6\n")
        self.refused("train", "gmm", bad, "-o", self.path("g.kith"), says=("bad.csv", "b"))
        words = self.write("words.txt", "a b c a b c\n" * 50)
        self.ok("train", "word2vec", words, "-o", self.path("w.kith"), "--min-count", 1, "--quiet")
        self.refused("clusters", self.path("w.kith"), code=kith.BAD_USAGE,
                     says="clusters is for models that divide rows into clusters")
        model = self.train(source, "--id", "id", "--components", 2)
        other = self.table(groups(10, cols=4)[0], "other.csv")
        self.refused("clusters", model, other, "--id", "id", says="rows of 4 numbers")
        self.refused("clusters", model, "--plot", self.path("no/c.svg"), code=kith.BAD_INPUT,
                     says="there is no folder")


class TrainingPictures(kith.TestCase):
    """kith train --plot, for models of several kinds of data."""

    def drawn(self, *args):
        picture = self.path("curve.svg")
        self.ok("train", *args, "-o", self.path("m.kith"), "--quiet", "--plot", picture)
        return xml.etree.ElementTree.parse(picture).getroot()

    def lines(self, root):
        return [[tuple(map(float, p.split(","))) for p in line.get("points").split()]
                for line in root.findall(SVG + "polyline")]

    def test_of_a_mixture(self):
        x, _ = groups(500)
        np.save(self.path("x.npy"), x)
        root = self.drawn("gmm", self.path("x.npy"), "--components", 3, "--restarts", 1)
        lines = self.lines(root)
        self.assertEqual(len(lines), 1)
        heights = [y for _, y in lines[0]]  # from the top: the loss falls
        self.assertEqual(heights, sorted(heights))
        texts = [t.text for t in root.findall(SVG + "text")]
        self.assertIn("loss", texts)
        self.assertIn("epoch", texts)
        self.assertNotIn("held-out loss", texts)

    def test_of_words(self):
        text = self.write("t.txt", "the cat sat on the mat and the dog ran\n" * 400)
        root = self.drawn("word2vec", text, "--epochs", 4, "--min-count", 1, "--holdout", 0.1,
                          "--threads", 1)
        lines = self.lines(root)
        self.assertEqual([len(line) for line in lines], [5, 4])  # held out: before, then each epoch
        self.assertIn("held-out loss", [t.text for t in root.findall(SVG + "text")])

    def test_of_ratings_that_are_learned_twice(self):
        rows = ["user,item,rating"]
        for u in range(60):
            rows += [f"u{u},i{i},{(u * i) % 5 + 1}" for i in range(40) if (u + i) % 3]
        root = self.drawn("als", self.write("r.csv", "\n".join(rows) + "\n"), "--dim", 4)
        texts = [t.text for t in root.findall(SVG + "text")]
        self.assertIn("second run, on all data", texts)
        self.assertGreaterEqual(len(self.lines(root)), 3)

    def test_a_picture_that_cannot_be_written_is_refused_first(self):
        text = self.write("t.txt", "a b a b\n" * 50)
        self.refused("train", "word2vec", text, "-o", self.path("m.kith"), "--plot",
                     self.path("no/such.svg"), says="there is no folder")
        self.assertFalse(self.path("m.kith").exists())
        self.refused("train", "word2vec", text, "-o", self.path("m.kith"), "--plot", text,
                     code=kith.BAD_USAGE, says="both read and written")


if __name__ == "__main__":
    kith.main()
