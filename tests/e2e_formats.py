# SPDX-License-Identifier: Apache-2.0
"""Files that others read and write: gensim, NumPy, safetensors; there and back without loss."""
import csv
import gzip
import json
import struct
import subprocess
import warnings

import numpy as np

import kith

warnings.filterwarnings("ignore")
from gensim.models import KeyedVectors  # noqa: E402

DTYPES = {"F32": "<f4", "F64": "<f8", "U8": "u1", "I32": "<i4", "U32": "<u4", "I64": "<i8",
          "U64": "<u8"}


def read_safetensors(path):
    """All of the format: a length, a JSON header, the tensors."""
    data = path.read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    header, body = json.loads(data[8:8 + size]), data[8 + size:]
    metadata = header.pop("__metadata__", {})
    tensors, end = {}, 0
    for name, t in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        begin, stop = t["data_offsets"]
        assert begin == end, f"a hole before {name}"
        end = stop
        tensors[name] = np.frombuffer(body[begin:stop], DTYPES[t["dtype"]]).reshape(t["shape"])
    assert end == len(body), "bytes after the last tensor"
    return metadata, tensors


def read_names(tensors, name):
    raw, offsets = tensors[name + ".bytes"].tobytes(), tensors[name + ".offsets"]
    return [raw[a:b].decode() for a, b in zip(offsets, offsets[1:])]


class Trained(kith.TestCase):
    def setUp(self):
        super().setUp()
        text = kith.two_topics(300).replace("hill0", "gr\u00fcn").replace("sea0", "\u6d77")
        self.model = kith.train_quick(self, "words.kith", text, "--dim", 10)
        self.npy = self.path("v.npy")
        self.ok("export", self.model, "--to", "npy", "-o", self.npy)
        self.vectors = np.load(self.npy)
        self.names = self.path("v.npy.names.txt").read_text(encoding="utf-8").splitlines()

    def assert_same(self, names, vectors):
        self.assertEqual(list(names), self.names)
        np.testing.assert_array_equal(np.asarray(vectors), self.vectors)

    def again(self, file):
        """Imports a file and returns what is then in the model."""
        model, npy = self.path("again.kith"), self.path("again.npy")
        self.ok("import", file, "-o", model)
        self.ok("export", model, "--to", "npy", "-o", npy)
        names = self.path("again.npy.names.txt").read_text(encoding="utf-8").splitlines()
        return names, np.load(npy)


class Export(Trained):
    def test_npy(self):
        self.assertEqual(self.vectors.dtype, np.dtype("<f4"))
        self.assertEqual(self.vectors.shape, (20, 10))
        self.assertTrue(self.vectors.flags.c_contiguous)
        self.assertTrue(np.isfinite(self.vectors).all())
        self.assertTrue((np.linalg.norm(self.vectors, axis=1) > 0).all())

    def test_gensim_reads_word2vec_text_and_binary(self):
        for to, binary in (("word2vec-text", False), ("word2vec-bin", True)):
            out = self.path("v")
            self.ok("export", self.model, "--to", to, "-o", out)
            loaded = KeyedVectors.load_word2vec_format(out, binary=binary)
            self.assert_same(loaded.index_to_key, loaded.vectors)

    def test_gensim_reads_glove(self):
        out = self.path("v.txt")
        self.ok("export", self.model, "--to", "glove", "-o", out)
        loaded = KeyedVectors.load_word2vec_format(out, binary=False, no_header=True)
        self.assert_same(loaded.index_to_key, loaded.vectors)

    def test_csv(self):
        out = self.path("v.csv")
        self.ok("export", self.model, "--to", "csv", "-o", out)
        with open(out, newline="", encoding="utf-8") as file:
            rows = list(csv.reader(file))
        body = rows[1:] if len(rows) == len(self.names) + 1 else rows
        self.assert_same([r[0] for r in body], np.array([r[1:] for r in body], np.float32))

    def test_a_model_file_is_safetensors(self):
        metadata, tensors = read_safetensors(self.model)
        self.assertEqual(metadata["model"], "word2vec")
        self.assertTrue(all(isinstance(v, str) for v in metadata.values()))
        match = [n for n, t in tensors.items() if t.shape == self.vectors.shape
                 and np.array_equal(t, self.vectors)]
        self.assertTrue(match, tensors.keys())
        named = {n[:-len(".offsets")] for n in tensors if n.endswith(".offsets")}
        self.assertIn(self.names, [read_names(tensors, n) for n in named])

    def test_export_to_safetensors(self):
        out = self.path("v.safetensors")
        self.ok("export", self.model, "--to", "safetensors", "-o", out)
        _, tensors = read_safetensors(out)
        self.assertTrue([t for t in tensors.values() if np.array_equal(t, self.vectors)])
        self.assert_same(*self.again(out))

    def test_the_three_sides(self):
        sides = {}
        for side in ("input", "output", "sum"):
            self.ok("export", self.model, "--to", "npy", "--vectors", side, "-o", self.npy)
            sides[side] = np.load(self.npy)
        np.testing.assert_array_equal(sides["input"], self.vectors)
        self.assertFalse(np.array_equal(sides["output"], self.vectors))
        np.testing.assert_allclose(sides["sum"], sides["input"] + sides["output"], rtol=1e-6)

    def test_a_name_with_a_space_cannot_be_word2vec_text(self):
        file = self.write("glove.txt", "new york 1 2 3\nparis 4 5 6\nrome 7 8 9\n")
        model = self.path("cities.kith")
        self.ok("import", file, "-o", model)
        self.ok("near", model, "new york")
        self.refused("export", model, "--to", "word2vec-text", "-o", self.path("out"),
                     says="new york")
        self.assertFalse(self.path("out").exists())
        self.ok("export", model, "--to", "csv", "-o", self.path("out"))


    def test_what_was_written_as_json(self):
        out, back, small = self.path("v.txt"), self.path("back.kith"), self.path("small.kith")
        told = self.ok("export", self.model, "--to", "glove", "-o", out, "--json").json
        rows = len(out.read_text().splitlines())
        self.assertEqual(told, {"output": str(out), "format": "glove", "rows": rows, "cols": told["cols"],
                                "bytes": out.stat().st_size})
        read = self.ok("import", out, "-o", back, "--json")
        self.assertEqual(read.err, "")
        self.assertEqual(read.json, {"output": str(back), "format": "glove", "rows": rows,
                                     "cols": told["cols"], "duplicates": 0, "invalid_utf8": 0,
                                     "bytes": back.stat().st_size})
        done = self.ok("compress", self.model, "-o", small, "--json").json
        self.assertEqual(done["bytes"], small.stat().st_size)
        self.assertEqual(done["bytes_before"], self.model.stat().st_size)
        self.assertEqual(done["tables"][0]["rows"], rows)
        self.refused("export", self.model, "--to", "glove", "-o", "-", "--json", code=kith.BAD_USAGE,
                     says="--json is for a file")
        for number in ("rows", "cols", "bytes"):
            self.assertIs(type(told[number]), int, number)


class Import(Trained):
    def test_own_exports(self):
        for to in ("word2vec-text", "word2vec-bin", "glove", "fasttext-bin", "csv", "npy",
                   "safetensors"):
            out = self.path("v." + to)
            self.ok("export", self.model, "--to", to, "-o", out)
            with self.subTest(to):
                self.assert_same(*self.again(out))

    def test_what_gensim_writes(self):
        vectors = KeyedVectors(10)
        vectors.add_vectors(self.names, self.vectors)
        for binary in (False, True):
            out = self.path("gensim")
            vectors.save_word2vec_format(out, binary=binary)
            names, values = self.again(out)
            self.assertEqual(names, vectors.index_to_key)
            np.testing.assert_array_equal(values, vectors.vectors)

    def test_compressed(self):
        out = self.path("v.txt")
        self.ok("export", self.model, "--to", "word2vec-text", "-o", out)
        self.assert_same(*self.again(self.write("v.gz", gzip.compress(out.read_bytes()))))
        packed = subprocess.run(["zstd", "-qc", out], capture_output=True, check=True).stdout
        self.assert_same(*self.again(self.write("v.zst", packed)))

    def test_binary_without_newlines(self):
        # The original tool ends each vector with a newline, others do not.
        body = b"".join(n.encode() + b" " + v.tobytes() for n, v in zip(self.names, self.vectors))
        self.assert_same(*self.again(self.write("v.bin", b"20 10\n" + body)))

    def test_a_word_twice_keeps_the_first_and_says_so(self):
        file = self.write("v.txt", "3 2\na 1 2\nb 3 4\na 5 6\n")
        result = self.ok("import", file, "-o", self.path("m.kith"))
        self.assertIn("1", result.err)
        self.ok("export", self.path("m.kith"), "--to", "npy", "-o", self.npy)
        np.testing.assert_array_equal(np.load(self.npy), [[1, 2], [3, 4]])

    def test_numbers_survive_as_text(self):
        rng = np.random.default_rng(1)
        values = rng.standard_normal((50, 4)) * 10.0 ** rng.integers(-30, 30, (50, 4))
        values = values.astype(np.float32)
        names = [f"n{i}" for i in range(50)]
        vectors = KeyedVectors(4)
        vectors.add_vectors(names, values)
        file = self.path("v.bin")
        vectors.save_word2vec_format(file, binary=True)
        model = self.path("m.kith")
        self.ok("import", file, "-o", model)
        for to in ("word2vec-text", "glove", "csv"):
            self.ok("export", model, "--to", to, "-o", self.path("v." + to))
            _, back = self.again(self.path("v." + to))
            np.testing.assert_array_equal(back, vectors.vectors)


class Reproduce(kith.TestCase):
    def test_the_settings_in_the_file_train_the_same_model(self):
        corpus = self.write("corpus.txt", kith.two_topics(300))
        first, second = self.path("first.kith"), self.path("second.kith")
        self.ok("train", "word2vec", corpus, "-o", first, *kith.QUICK, "--deterministic",
                "--window", 3, "--negatives", 7, "--lr", "0.031", "--seed", 9, "--min-count", 2)
        settings = self.ok("info", first, "--toml").out
        self.assertIn("negatives = 7", settings)
        config = self.write("run.toml", settings)
        self.ok("train", "word2vec", corpus, "-o", second, "--config", config, "--deterministic",
                "--quiet")
        self.assertEqual(first.read_bytes(), second.read_bytes())


if __name__ == "__main__":
    kith.main()
