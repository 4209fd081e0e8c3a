#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rows of numbers, and their main directions, as a user has them."""
import gzip
import json
import re
import signal
import struct
import time
import xml.etree.ElementTree

import numpy as np

import kith


def rows_with_gaps(rows, cols, deviations=(5, 4, 3, 2), seed=1, mean=3.0):
    """Rows that vary along these directions, and by 0.1 along all others."""
    rng = np.random.default_rng(seed)
    axes = np.linalg.qr(rng.normal(size=(cols, cols)))[0]
    scale = np.full(cols, 0.1)
    scale[:len(deviations)] = deviations[:cols]
    return (mean + (rng.normal(size=(rows, cols)) * scale) @ axes.T).astype(np.float32)


def spectrum(data, centre=True):
    """Variances and directions by numpy's singular value decomposition, in double."""
    x = data.astype(np.float64)
    x = x - x.mean(axis=0) if centre else x
    _, sigma, v = np.linalg.svd(x, full_matrices=False)
    return sigma ** 2 / (len(x) - 1), v


class Matrix(kith.TestCase):
    def save(self, name, data):
        np.save(self.path(name), data)
        return self.path(name)

    def train(self, source, *flags, name="p.kith", model="pca"):
        model_file = self.path(name)
        self.ok("train", model, source, "-o", model_file, "--quiet", *flags)
        return model_file

    def tensors(self, model):
        """All tensors of a model file, read as its format says."""
        data = model.read_bytes()
        size = struct.unpack("<Q", data[:8])[0]
        header = json.loads(data[8:8 + size])
        types = {"F32": np.float32, "F64": np.float64, "U8": np.uint8, "U64": np.uint64,
                 "U32": np.uint32}
        return {name: np.frombuffer(data[8 + size:][t["data_offsets"][0]:t["data_offsets"][1]],
                                    types[t["dtype"]]).reshape(t["shape"])
                for name, t in header.items() if name != "__metadata__"}

    def embedded(self, model, source, *flags):
        out = self.path("codes.npy")
        self.ok("embed", model, source, "-o", out, *flags)
        return np.load(out)

    def test_all_methods_find_what_numpy_finds(self):
        data = rows_with_gaps(2000, 30)
        source = self.save("x.npy", data)
        variance, axes = spectrum(data)
        for method in ("exact", "randomised", "power", "autoencoder"):
            t = self.tensors(self.train(source, "--dim", 4, "--method", method))
            self.assertLess(np.abs(t["variance"] - variance[:4]).max(), 1e-5 * variance[0], method)
            outside = t["components"] - t["components"] @ axes[:4].T @ axes[:4]
            self.assertLess(np.linalg.norm(outside, 2), 1e-4, method)

    def test_a_spectrum_without_gaps_is_found_by_the_exact_method(self):
        rng = np.random.default_rng(3)
        data = (rng.normal(size=(3000, 40)) * np.linspace(1, 2, 40)).astype(np.float32)
        variance, _ = spectrum(data)
        t = self.tensors(self.train(self.save("x.npy", data), "--dim", 40))
        self.assertLess(np.abs(t["variance"] - variance).max(), 1e-5 * variance[0])

    def test_every_form_of_the_same_rows_gives_the_same_model(self):
        data = np.round(rows_with_gaps(300, 6).astype(np.float64), 2)
        wanted = self.tensors(self.train(self.save("x.npy", data), "--dim", 3))
        forms = {
            "f.npy": lambda p: np.save(p, np.asfortranarray(data)),
            "x.npy.gz": lambda p: p.write_bytes(gzip.compress(self.path("x.npy").read_bytes())),
            "x.csv": lambda p: np.savetxt(p, data, "%.2f", ",", header="a,b,c,d,e,f", comments=""),
            "bare.csv": lambda p: np.savetxt(p, data, "%.2f", ","),
            "x.tsv": lambda p: np.savetxt(p, data, "%.2f", "\t"),
        }
        for name, write in forms.items():
            write(self.path(name))
            found = self.tensors(self.train(self.path(name), "--dim", 3))
            for part in ("mean", "variance", "components"):
                np.testing.assert_array_equal(found[part], wanted[part], f"{name}: {part}")
        # Two files are one below the other.
        a, b = self.save("a.npy", data[:100]), self.save("b.npy", data[100:])
        found = self.tensors(self.train(a, b, "--dim", 3))
        np.testing.assert_array_equal(found["components"], wanted["components"])
        # And a pipe.
        out = self.path("piped.kith")
        self.ok("train", "pca", "-", "-o", out, "--dim", 3, "--quiet",
                stdin=self.path("x.csv").read_bytes())
        np.testing.assert_array_equal(self.tensors(out)["components"], wanted["components"])

    def test_safetensors_images_and_sparse_rows(self):
        data = rows_with_gaps(200, 5)
        body = data.tobytes()
        header = json.dumps({"w": {"dtype": "F32", "shape": [200, 5], "data_offsets": [0, 4000]},
                             "v": {"dtype": "F32", "shape": [200, 5],
                                   "data_offsets": [4000, 8000]}}).encode()
        two = self.write("two.safetensors", struct.pack("<Q", len(header)) + header + body + body)
        self.refused("train", "pca", two, "-o", self.path("a.kith"),
                     says="several matrices (v, w); name one of them, such as --tensor v")
        by_name = self.tensors(self.train(two, "--dim", 2, "--tensor", "w"))
        usual = self.tensors(self.train(self.save("x.npy", data), "--dim", 2))
        np.testing.assert_array_equal(by_name["components"], usual["components"])
        pixels = np.random.default_rng(1).integers(0, 256, (50, 4, 3), dtype=np.uint8)
        images = self.write("images.gz", gzip.compress(
            struct.pack(">BBBBIII", 0, 0, 8, 3, 50, 4, 3) + pixels.tobytes()))
        found = self.tensors(self.train(images, "--dim", 2))
        np.testing.assert_allclose(found["mean"], pixels.reshape(50, 12).mean(axis=0))
        dense = np.where(np.random.default_rng(2).random((90, 8)) < 0.3, 1.5, 0)
        entries = [f"{r + 1} {c + 1} {dense[r, c]}" for r, c in zip(*np.nonzero(dense))]
        mtx = self.write("x.mtx", "%%MatrixMarket matrix coordinate real general\n"
                         f"90 8 {len(entries)}\n" + "\n".join(entries) + "\n")
        sparse = self.tensors(self.train(mtx, "--dim", 3))
        same = self.tensors(self.train(self.save("d.npy", dense), "--dim", 3))
        np.testing.assert_allclose(sparse["variance"], same["variance"], rtol=1e-5)
        np.testing.assert_allclose(sparse["mean"], same["mean"])

    def test_the_vectors_of_a_model_are_rows_too(self):
        words = kith.train_quick(self)
        by_name = self.train(words, "--dim", 3)
        self.ok("train", "pca", "--from", words, "-o", self.path("f.kith"), "--dim", 3, "--quiet")
        a, b = self.tensors(by_name), self.tensors(self.path("f.kith"))
        np.testing.assert_array_equal(a["components"], b["components"])
        out = self.path("small.kith")
        self.ok("embed", by_name, words, "-o", out)
        near = self.ok("near", out, "hill1", "--top", 3, "--json").json["neighbours"]
        self.assertTrue(all(n["id"].startswith("hill") for n in near), near)
        # Other models still say what they said, and a model of pca cannot go on.
        self.refused("train", "word2vec", words, "-o", self.path("a.kith"), says="this is a model")
        self.refused("train", words, "-o", self.path("a.kith"), says="this is a model")
        self.refused("train", "pca", self.save("x.npy", rows_with_gaps(9, 3)), "--from", by_name,
                     "-o", self.path("a.kith"), code=kith.BAD_USAGE, says="trained further")

    def test_users_or_items_of_a_model(self):
        ratings = "user,item,rating\n" + "".join(
            f"u{u},i{i},{(u * i) % 5 + 1}\n" for u in range(30) for i in range(20) if (u + i) % 3)
        model = self.train(self.write("r.csv", ratings), "--dim", 4, model="als", name="als.kith")
        items = self.train(model, "--dim", 2, "--of", "item")
        self.assertEqual(self.ok("info", items, "--json").json["facts"]["learned_rows"], 20)
        both = self.train(model, "--dim", 2)
        self.assertEqual(self.ok("info", both, "--json").json["facts"]["learned_rows"], 50)
        self.refused("train", "pca", model, "-o", self.path("a.kith"), "--of", "film",
                     code=kith.BAD_USAGE, says="it has no vectors of film; it has those of item, user")

    def test_the_data_choose_the_model(self):
        source = self.save("x.npy", rows_with_gaps(50, 4))
        told = self.ok("train", source, "-o", self.path("a.kith"))
        self.assertIn("rows of numbers", told.err)
        self.assertEqual(self.ok("info", self.path("a.kith"), "--json").json["model"], "pca")
        self.refused("train", "word2vec", source, "-o", self.path("b.kith"), code=kith.BAD_USAGE,
                     says="these are rows of numbers, and word2vec learns from text")

    def test_embed_keeps_the_names_of_rows(self):
        data = rows_with_gaps(40, 3)
        lines = ["name,x,y,z"] + [f"r{i},{a},{b},{c}" for i, (a, b, c) in enumerate(data)]
        source = self.write("x.csv", "\n".join(lines) + "\n")
        model = self.train(source, "--id", "name", "--dim", 2)
        out = self.path("codes.csv")
        told = self.ok("embed", model, source, "--name", "name", "-o", out)
        self.assertIn("40 rows of length 2", told.err)
        codes = [line.split(",") for line in out.read_text().splitlines()[1:]]
        self.assertEqual([c[0] for c in codes], [f"r{i}" for i in range(40)])
        _, axes = spectrum(data)
        plain = (data - data.mean(axis=0)) @ axes[:2].T
        found = np.array([[float(x) for x in c[1:]] for c in codes])
        np.testing.assert_allclose(np.abs(found), np.abs(plain), atol=2e-3)
        self.ok("embed", model, source, "--id", "name", "-o", self.path("codes.kith"))
        self.ok("near", self.path("codes.kith"), "r7")
        near = self.ok("near", model, "column=x", "--json").json["neighbours"]
        self.assertEqual({n["id"] for n in near}, {"y", "z"})

    def test_whitened_codes_have_variance_one(self):
        data = rows_with_gaps(3000, 8)
        source = self.save("x.npy", data)
        model = self.train(source, "--dim", 3, "--whiten")
        codes = self.embedded(model, source)
        np.testing.assert_allclose(np.cov(codes.T), np.eye(3), atol=1e-3)

    def test_reconstruct_and_eval_agree_with_the_spectrum(self):
        data = rows_with_gaps(800, 12)
        source = self.save("x.npy", data)
        model = self.train(source, "--dim", 3)
        out = self.path("back.npy")
        self.ok("reconstruct", model, source, "-o", out)
        error = np.mean((np.load(out).astype(np.float64) - data) ** 2)
        said = self.ok("eval", model, source, "--json").json
        variance, _ = spectrum(data)
        tail = variance[3:].sum() * 799 / 800 / 12
        self.assertLess(abs(error / tail - 1), 1e-3)
        self.assertLess(abs(said["mse"] / tail - 1), 1e-3)
        self.assertLess(abs(said["variance_kept"] - (1 - variance[3:].sum() / variance.sum())), 1e-4)
        told = self.ok("info", model, "--json").json["facts"]["explained"]
        self.assertLess(abs(told - said["variance_kept"]), 1e-4)
        mean = said["baselines"]["mean"]
        self.assertEqual(mean["variance_kept"], 0)
        self.assertLess(abs(mean["mse"] / (variance.sum() * 799 / 800 / 12) - 1), 1e-4)
        self.assertIn("variance_kept", self.ok("eval", model, source).out)

    def test_scree_plot_is_a_picture_of_the_shares(self):
        model = self.train(self.save("x.npy", rows_with_gaps(500, 12)), "--dim", 6)
        picture = self.path("scree.svg")
        self.ok("info", model, "--plot", picture)
        root = xml.etree.ElementTree.parse(picture).getroot()
        titles = [t.text for t in root.iter() if t.tag.endswith("title")]
        self.assertEqual(len([t for t in titles if t and t.startswith("component ")]), 6)
        share = float(re.search(r"component 1: ([\d.]+) %", picture.read_text())[1])
        first = self.ok("info", model, "--json").json["facts"]["first_components"]
        self.assertAlmostEqual(share, float(first.split(" ")[0]))
        words = kith.train_quick(self)
        self.refused("info", words, "--plot", picture, code=kith.BAD_USAGE,
                     says="a scree plot is for models that find the main directions")

    def test_what_cannot_be_learned_from_is_told(self):
        model, out = self.path("a.kith"), ("-o", self.path("a.kith"))
        cases = [
            ("a.csv", "x,y\n1,2\n3\n", "a.csv:3"),
            ("b.csv", "x,y\n1,2\n3,\n", "b.csv:3: column y: the cell is empty"),
            ("c.csv", "x,y\n1,2\ninf,3\n", "c.csv:3: column x: inf is not a finite number"),
            ("d.csv", "x,kind\n1,red\n2,blue\n", "column kind is not of numbers"),
            ("e.csv", "", "empty"),
            ("f.csv", "x,y\n", "no rows"),
            ("g.csv", "x,y\n1,2\n1,2\n", "nothing to learn"),
            ("h.ldac", "2 0:1 1:2\n1 99999999999:1\n", "h.ldac:2"),
        ]
        for name, text, says in cases:
            self.refused("train", "pca", self.write(name, text), *out, says=says)
        self.refused("train", "pca", self.save("v.npy", np.arange(5.0)), *out,
                     says="the array has 1 dimension")
        bad = rows_with_gaps(20, 3)
        bad[11, 1] = np.nan
        self.refused("train", "pca", self.save("n.npy", bad), *out,
                     says="n.npy: row 12, column number 2: nan")
        self.refused("train", "pca", self.save("s.npy", rows_with_gaps(4, 9)), *out, "--dim", 5,
                     code=kith.BAD_USAGE, says="more than the 3 directions that 4 rows of 9 numbers")
        self.assertFalse(model.exists())
        good = self.train(self.save("x.npy", rows_with_gaps(30, 4)), "--dim", 2)
        self.refused("embed", good, self.save("w.npy", rows_with_gaps(30, 5)), "-o",
                     self.path("o.npy"), says="rows of 5 numbers, and the model learned from rows of 4")
        self.refused("reconstruct", kith.train_quick(self), self.path("x.npy"), "-o",
                     self.path("o.npy"), code=kith.BAD_USAGE, says="give rows of numbers back")
        named = self.train(self.write("m.csv", "x,y\n1,2\n3,1\n4,4\n"), "--dim", 1)
        self.refused("eval", named, self.write("r.csv", "y,x\n1,2\n3,4\n"),
                     says="column 1 is called y, and x in the data that the model learned from")

    def test_a_constant_column_is_told_of(self):
        data = rows_with_gaps(30, 4)
        data[:, 2] = 7
        told = self.ok("train", "pca", self.save("x.npy", data), "-o", self.path("a.kith"))
        self.assertIn("column 3: the same in every row", told.err)

    def test_threads_and_seeds_change_nothing_of_the_exact_method(self):
        source = self.save("x.npy", rows_with_gaps(20000, 40))
        models = [self.train(source, "--dim", 5, "--threads", threads, name=f"{threads}.kith")
                  for threads in (1, 2, 8)]
        parts = [self.tensors(m) for m in models]
        for name in ("components", "variance", "mean"):
            for other in parts[1:]:
                np.testing.assert_array_equal(parts[0][name], other[name])

    def test_a_killed_run_goes_on_to_the_same_file(self):
        source = self.save("x.npy", rows_with_gaps(3000, 60, deviations=(1.1, 1.05, 1.0)))
        flags = ("--dim", 3, "--method", "power", "--tolerance", 0, "--epochs", 40000, "--quiet")
        whole, cut = self.path("whole.kith"), self.path("cut.kith")
        self.ok("train", "pca", source, "-o", whole, *flags)
        process = kith.start("train", "pca", source, "-o", cut, *flags)
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        process.communicate()
        self.ok("train", "pca", source, "-o", cut, *flags, "--resume")
        self.assertEqual(whole.read_bytes(), cut.read_bytes())

    def test_memory_does_not_grow_with_the_rows(self):
        def peak(rows):
            # Piece by piece: what this process holds would count as the peak of its child.
            source, piece = self.path("x.npy"), np.random.default_rng(1).random((10_000, 64))
            with open(source, "wb") as file:
                np.lib.format.write_array_header_1_0(
                    file, {"descr": "<f8", "fortran_order": False, "shape": (rows, 64)})
                for _ in range(rows // 10_000):
                    file.write(piece.tobytes())
            code, peak = kith.peak_memory("train", "pca", source, "-o", self.path("a.kith"),
                                          "--dim", 8, "--quiet")
            self.assertEqual(code, kith.DONE)
            return peak
        if kith.SANITIZED:
            self.skipTest("sanitizers keep memory")
        small, large = peak(10_000), peak(400_000)  # 5 and 200 MB
        self.assertLess(large - small, 10e6)


if __name__ == "__main__":
    kith.main()
