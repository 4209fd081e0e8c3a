# SPDX-License-Identifier: Apache-2.0
"""Files of version 0.1, in tests/files/0.1, are opened and answer as they did."""
import json
import shlex
import shutil
import tomllib

import kith

FILES = kith.SOURCE / "tests/files/0.1"
# Flags of 0.1 that have another name now; those of answers.txt have kept theirs.
RENAMED = {}
# Keys of JSON that have another name now.
KEYS = {"similarity": "score", "value": "prediction"}
# near took the biases of bmf for a part of its vectors, similarity did not; now neither does.
MENDED = ["near", "bmf.kith", "item=i1"]
# What a setting was called in files of 0.1, and the numbers that stood for auto.
NAMES = {"word2vec": {"adapt": "adapt-rate"}, "nmf": {"unobserved": "unrated"}}
AUTO = {
    "word2vec": {"max-vocab": 0, "lr": 0, "holdout": 50000},
    "feat2vec": {"epochs": 0, "holdout": 10000},
    "als": {"penalty": -1, "frequency": -1, "bias-penalty": -1, "holdout": 0.05},
    "mf": {"lr": -1, "penalty": -1, "early-stop": -1, "holdout": 0.05},
    "bmf": {"holdout": 0.05},
    "svp": {"step": 0, "holdout": 0.05},
    "softimpute": {"penalty": 0, "epochs": 0, "step": 0, "holdout": 0.05},
    "nmf": {"penalty": -1, "holdout": 0.05},
}


def questions():
    """(command line, what 0.1 printed), as answers.txt has them."""
    lines = (FILES / "answers.txt").read_text().splitlines()
    assert lines and len(lines) % 2 == 0
    return [(shlex.split(lines[i]), lines[i + 1]) for i in range(0, len(lines), 2)]


class Old(kith.TestCase):
    def setUp(self):
        super().setUp()
        self.files = sorted(FILES.glob("*.kith"))
        self.assertTrue(self.files, "the models of 0.1 are there")
        for file in self.files:
            shutil.copy(file, self.folder)

    def told(self, name):
        return self.ok("info", self.path(name), "--json").json

    def settings(self, name):
        return tomllib.loads(self.ok("info", self.path(name), "--toml").out)

    def expect_like(self, found, expected, where):
        """The same texts and order, and keys, of which there may be more; numbers as good as the same."""
        if isinstance(expected, dict):
            self.assertIsInstance(found, dict, where)
            for key, value in expected.items():
                self.expect_like(found[KEYS.get(key, key)], value, f"{where}: {key}")
        elif isinstance(expected, list):
            self.assertIsInstance(found, list, where)
            self.assertEqual(len(found), len(expected), where)
            for i, value in enumerate(expected):
                self.expect_like(found[i], value, f"{where}[{i}]")
        elif isinstance(expected, (int, float)) and not isinstance(expected, bool):
            self.assertIsInstance(found, (int, float), where)
            self.assertLessEqual(abs(found - expected), 1e-4 * max(1, abs(expected)), where)
        else:
            self.assertEqual(found, expected, where)


class Answers(Old):
    def test_old_files_answer_as_they_did(self):
        asked = set()
        for command, expected in questions():
            command = [RENAMED.get(word, word) for word in command]
            asked.add(command[1])
            found = self.ok(*command, cwd=self.folder).json
            if command[:3] == MENDED:
                for one in found["neighbours"]:
                    told = self.ok("similarity", *command[1:3], f"item={one['id']}", "--json",
                                   cwd=self.folder).json
                    self.assertAlmostEqual(one["score"], told["score"], 4)
                continue
            self.expect_like(found, json.loads(expected), " ".join(command))
        self.assertEqual(asked, {f.name for f in self.files}, "every file is asked")
        for file in self.files:
            self.assertEqual(self.path(file.name).read_bytes(), file.read_bytes(),
                             "a question changes no file")

    def test_old_files_say_what_they_are(self):
        for file in self.files:
            told = self.told(file.name)
            self.assertEqual(told["model"], file.stem.split("-")[0])
            self.assertEqual(told["metadata"]["version"], "0.1.0")
            self.assertRegex(self.ok("info", self.path(file.name)).out,
                             rf"(?s)model +{told['model']}\n.*version +0\.1\.0\n")

    def test_every_old_model_is_known(self):
        names = {m["name"] for m in self.ok("models", "--json").json}
        old = {f.stem.split("-")[0] for f in self.files}
        self.assertLessEqual(old, names)
        self.assertEqual(len(old), 9)


class Settings(Old):
    def test_old_settings_go_by_their_present_names(self):
        known = {m["name"]: {s["name"] for s in m["settings"]}
                 for m in self.ok("models", "--json").json}
        for file in self.files:
            model = file.stem.split("-")[0]
            if model == "vectors":
                continue
            # The file itself has the text of 0.1.
            with open(file, "rb") as f:
                header = json.loads(f.read(int.from_bytes(f.read(8), "little")))
            old = tomllib.loads(header["__metadata__"]["run"])
            renamed = NAMES.get(model, {})
            for name in renamed:
                self.assertIn(name, old, file.name)
            expected = {renamed.get(name, name): "auto" if AUTO[model].get(name) == value else value
                        for name, value in old.items()}
            found = self.settings(file.name)
            for name in renamed:
                if name not in known[model]:
                    self.assertNotIn(name, found, file.name)
            # Settings that came after 0.1 may be there too.
            self.expect_like({name: found.get(name) for name in expected}, expected, file.name)

    def test_old_settings_make_a_new_model(self):
        text = self.write("t.txt", kith.two_topics(60))
        table = self.write("t.csv", "genre,director,year\n" + "war,Ann,1970\njoke,Bea,1990\n" * 30)
        ratings = self.write("r.csv", "".join(f"u{k % 12},i{k % 7},{1 + k * k % 5}\n"
                                              for k in range(80)))
        data = {"word2vec": text, "feat2vec": table}
        for file in self.files:
            model = file.stem.split("-")[0]
            if model == "vectors" or file.stem in ("feat2vec-number", "feat2vec-classes"):
                continue
            config = self.write("run.toml", self.ok("info", self.path(file.name), "--toml").out)
            new = self.path("new.kith")
            self.ok("train", model, data.get(model, ratings), "--config", config, "-o", new,
                    "--quiet", "--threads", 1)
            if model == "softimpute":  # which finds its own
                continue
            self.assertEqual(self.ok("info", new, "--json").json["facts"]["dim"],
                             self.told(file.name)["facts"]["dim"], file.name)


class Work(Old):
    """Old files are not only read."""

    def test_old_vectors_are_exported(self):
        for name, dim in (("word2vec.kith", 4), ("vectors.kith", 4), ("als.kith", 3)):
            out = self.path("out.txt")
            self.ok("export", self.path(name), "--to", "word2vec-text", "-o", out)
            lines = out.read_text().splitlines()
            rows, width = map(int, lines[0].split())
            self.assertEqual((len(lines) - 1, dim), (rows, width), name)
            self.assertTrue(all(len(line.split(" ")) == 1 + dim for line in lines[1:]), name)
        # And read back: the same cosine.
        self.ok("export", self.path("word2vec.kith"), "--to", "word2vec-bin", "-o",
                self.path("out.bin"))
        self.ok("import", self.path("out.bin"), "-o", self.path("back.kith"), "--quiet")
        cosine = [self.ok("similarity", self.path(name), "sea", "wave", "--json").json["score"]
                  for name in ("word2vec.kith", "back.kith")]
        self.assertAlmostEqual(*cosine, 4)

    def test_old_ratings_models_are_updated(self):
        rows = self.write("new.csv", "user,item,rating\nnew,i1,5\nnew,i2,1\nnew,i4,4\nu1,i3,5\n")
        for name in ("als", "mf", "bmf", "svp", "softimpute", "nmf", "als-normalised"):
            old, new = self.path(name + ".kith"), self.path("new.kith")
            self.ok("update", old, rows, "-o", new)
            users = int(self.told(old.name)["facts"]["users"])
            self.assertEqual(int(self.told("new.kith")["facts"]["users"]), users + 1, name)
            found = self.ok("recommend", new, "new", "--top", 20, "--json").json
            ids = {r["id"] for r in found["recommendations"]}
            self.assertEqual(ids & {"i1", "i2", "i4"}, set(), "what was rated is left out")
            self.assertEqual(len(ids), 6, name)
            liked, disliked = (self.ok("predict", new, "user=new", f"item={i}", "--json").json
                               for i in ("i1", "i2"))
            if name != "als-normalised":  # three ratings say little of a user's deviation
                self.assertGreater(liked["prediction"], disliked["prediction"], name)
            # Whom nothing was said about is where they were.
            asked = ["user=u2", "item=i3", "--json"]
            self.expect_like(self.ok("predict", new, *asked).json,
                             self.ok("predict", old, *asked).json, name)

    def test_an_old_table_model_is_updated(self):
        old, new = self.path("feat2vec.kith"), self.path("new.kith")
        rows = self.write("new.csv", "film,year,genres,director,made\n" + "".join(
            f"n{k},{1970 + k},war|western,Ann,{1970 + k}-05-01\n" for k in range(8)))
        self.ok("update", old, rows, "-o", new)
        near = self.ok("near", new, "genres=western", "--top", 20, "--json").json
        self.assertEqual(near["column"], "genres")
        self.assertEqual({n["id"] for n in near["neighbours"]}, {"war", "drama", "comedy", "music"})
        self.assertEqual(near["neighbours"][0]["id"], "war", "where its rows point")
        told = self.ok("predict", new, "--target", "director", "genres=western", "--json").json
        self.assertEqual(sorted(p["id"] for p in told["predictions"]), ["Ann", "Bea", "Cy"])
        # What was known is where it was.
        asked = ["embed", "genres=war", "--json"]
        self.expect_like(self.ok(asked[0], new, *asked[1:]).json,
                         self.ok(asked[0], old, *asked[1:]).json, "genres=war")

    def test_training_goes_on_from_an_old_model(self):
        old, new = self.path("word2vec.kith"), self.path("new.kith")
        words = ["hill", "slope", "rock", "peak", "glen"]
        text = self.write("more.txt", (" ".join(words * 2) + "\n") * 60)
        self.ok("train", "word2vec", text, "--from", old, "-o", new, "--epochs", 2, "--threads", 1,
                "--quiet")
        self.assertEqual(self.told("new.kith")["facts"]["vocabulary"], 11)
        self.assertEqual(self.told("new.kith")["facts"]["dim"], 4)
        found = self.settings("new.kith")
        self.assertEqual(found["adapt-rate"], 0.005)
        self.assertNotIn("adapt", found)
        # What was learned before is kept: the hills are still by themselves, with the new one.
        near = self.ok("near", new, "hill", "--top", 4, "--json").json["neighbours"]
        self.assertLessEqual({n["id"] for n in near}, {*words, "ridge"})
        self.ok("similarity", new, "sea", "glen")
        self.assertNotEqual(self.told("new.kith")["metadata"]["version"], "0.1.0")


if __name__ == "__main__":
    kith.main()
