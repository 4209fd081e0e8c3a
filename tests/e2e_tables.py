# SPDX-License-Identifier: Apache-2.0
"""Models of tables: from a bare CSV file to answers, each command on films whose truth is known."""
import contextlib
import csv
import fcntl
import io
import json
import os
import pty
import random
import re
import shlex
import struct
import subprocess
import termios
import threading

import films
import kith
from films import ACTORS, DIRECTORS, GENRES, topic_of


class Bare(kith.TestCase):
    """Training without a word about the columns."""

    def setUp(self):
        super().setUp()
        self.table = self.write("films.csv", films.as_csv(films.films()))

    def schema(self, name="films.schema.json"):
        columns = json.loads(self.path(name).read_text())["columns"]
        return {c["name"]: c for c in columns}

    def test_a_csv_file_is_all_it_takes(self):
        result = self.ok("train", "films.csv", "--threads", 1, cwd=self.folder)
        self.leftovers("films.csv", "films.kith", "films.schema.json")
        self.assertIn("a table, so the model is feat2vec", result.err)
        # What was understood is shown: every column with its type, the ignored ones with a reason.
        for name, kind in films.TYPES.items():
            self.assertRegex(result.err, rf"(?m)^  {name} +{kind}\b")
        self.assertRegex(result.err, r"(?m)^  genres +set by \|")
        self.assertIn("\nnote     film_id is ignored, an identifier: all 1,500 values differ; "
                      "if that is wrong, --types film_id=category\n", result.err)
        self.assertIn("\nnote     country is ignored, every cell is the same: Utopia\n", result.err)
        self.assertIn("1,500 rows of 5 columns", result.err)
        self.assertEqual({n: c["type"] for n, c in self.schema().items()}, films.TYPES)
        self.assertEqual(self.schema()["cast"]["separator"], "|")
        # The last line is a command that answers.
        told = re.search(r"(?m)^next +\S+ near (\S+) (.+)$", result.err)
        near = self.ok("near", told.group(1), told.group(2).strip("'"), "--json", cwd=self.folder)
        self.assertTrue(near.json["neighbours"])

    def test_json_tells_what_was_done_with_a_table(self):
        told = self.ok("train", self.table, "-o", self.path("m.kith"), *films.QUICK, "--json").json
        self.assertEqual(told["model"], "feat2vec")
        self.assertEqual(told["output"], str(self.path("m.kith")))
        self.assertEqual(told["epochs"], 3)
        self.assertEqual(told["rows"], 1500 - int(1500 * 0.01) + self.spared(told))
        for key in ("seconds", "vocabulary", "rows_per_second", "peak_memory", "loss", "held_out"):
            self.assertGreater(told[key], 0, key)

    def spared(self, told):
        """At most one row in a hundred is held out, fewer by chance."""
        spared = told["rows"] - 1485
        self.assertTrue(0 <= spared <= 15, told)
        return spared

    def test_an_edited_schema_is_used(self):
        model = self.path("films.kith")
        self.ok("train", self.table, "-o", model, *films.QUICK)
        schema = json.loads(self.path("films.schema.json").read_text())
        for column in schema["columns"]:
            if column["name"] == "title":
                column["type"] = "ignore"
            if column["name"] == "year":
                column["type"] = "category"
        edited = self.write("edited.json", json.dumps(schema))
        self.ok("train", self.table, "-o", model, *films.QUICK, "--schema", edited)
        facts = self.ok("info", model, "--json").json["facts"]
        self.assertNotIn("column title", facts)
        self.assertEqual(facts["column year"], "category, 40 rows")
        # It is not written over, neither that one nor the first.
        self.assertEqual(json.loads(edited.read_text()), schema)
        self.assertEqual(self.schema()["title"]["type"], "text")

    def test_a_schema_that_lies_there_is_not_used_and_put_aside(self):
        self.write("films.schema.json", '{"columns": [{"name": "year", "type": "ignore"}]}')
        result = self.ok("train", self.table, "-o", self.path("films.kith"), *films.QUICK[:-1])
        self.assertRegex(result.err,
                         r"was not used: to use it, give --schema .*films\.schema\.json\.1")
        self.assertIn("ignore", self.path("films.schema.json.1").read_text())
        self.assertEqual(self.schema()["year"]["type"], "number")
        facts = self.ok("info", self.path("films.kith"), "--json").json["facts"]
        self.assertIn("column year", facts)

    def test_a_schema_that_nobody_edited_goes_with_its_model(self):
        model = self.path("films.kith")
        for kind in ("number", "category", "ignore"):
            self.ok("train", self.table, "-o", model, *films.QUICK, "--types", f"year={kind}")
            self.assertEqual(self.schema()["year"]["type"], kind)
        self.leftovers("films.csv", "films.kith", "films.schema.json")
        ratings = self.write("r.csv", "user,item,rating\n" + "".join(
            f"u{u},i{i},{1 + (u * i) % 5}\n" for u in range(12) for i in range(12) if (u + i) % 3))
        self.ok("train", "als", ratings, "-o", model, "--dim", 2, "--quiet")
        self.leftovers("films.csv", "r.csv", "films.kith")

    def test_a_schema_that_is_not_there_yet_is_written(self):
        self.ok("train", self.table, "-o", self.path("m.kith"), *films.QUICK, "--schema",
                self.path("mine.json"))
        self.assertEqual({n: c["type"] for n, c in self.schema("mine.json").items()}, films.TYPES)
        self.leftovers("films.csv", "m.kith", "mine.json")

    def test_what_is_doubtful_about_many_columns_is_one_line_to_paste(self):
        names = [f"n{c}" for c in range(24)] + ["last one"]
        rows = "".join(",".join(str((r + c) % 7) for c in range(25)) + "\n" for r in range(100))
        table = self.write("wide.csv", ",".join(names) + "\n" + rows)
        small = ["-o", self.path("m.kith"), "--dim", 4, "--epochs", 1]
        told = self.ok("train", "feat2vec", table, *small).err
        self.assertEqual(told.count("is taken for a category"), 20)
        said = re.search(r"(?m)^note     5 columns more may be .* --types (.+)$", told)
        types = shlex.split(said.group(1))
        self.assertEqual(types, [",".join(f"{n}=number" for n in names[20:])])
        # Nothing of the list is cut, or broken where lines are.
        shown = self.on_a_terminal(60, "train", "feat2vec", table, *small)
        self.assertIn(f"{said.group(1)}\n", shown)
        told = self.ok("train", "feat2vec", table, *small, "--types", *types).err
        self.assertRegex(told, r"(?m)^  last one +number")
        self.assertNotIn("more may be of another type", told)

    def on_a_terminal(self, width, *args):
        """What it says to a terminal of so many columns."""
        ours, its = pty.openpty()
        fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 40, width, 0, 0))
        shown = bytearray()

        def read():
            with contextlib.suppress(OSError):  # the end of a terminal
                while piece := os.read(ours, 4096):
                    shown.extend(piece)

        reader = threading.Thread(target=read)
        reader.start()
        environment = dict(os.environ, LC_ALL="C.UTF-8", TERM="dumb")
        subprocess.run([kith.KITH, *map(str, args)], stderr=its, check=True, env=environment)
        os.close(its)
        reader.join()
        os.close(ours)
        return shown.decode().replace("\r\n", "\n")

    def test_columns_are_what_all_rows_say(self):
        rows = [f"{i * 7 % 1000}.5,v{i % 3},t{i % 9},id{i}" if i < 12000 else
                f"w{i % 6},,t{i % 9}|t{i % 5},id{i}" for i in range(30000)]
        text = "b,c,d,e\n" + "\n".join(rows) + "\n"
        table = self.write("late.csv", text)
        small = ["-o", self.path("m.kith"), "--dim", 4, "--epochs", 1, "--threads", 1]
        told = self.ok("train", "feat2vec", table, *small).err
        self.assertRegex(told, r"(?m)^  b +category +1,006 +- ")
        self.assertRegex(told, r"(?m)^  c +category +3 +60\.0 %")
        self.assertRegex(told, r"(?m)^  d +set by \| +9 +- ")
        self.assertRegex(told, r"(?m)^  e +ignore +30,000 +- ")
        self.assertIn("note     the types were inferred from 10,000 rows, drawn from all 30,000\n",
                      told)
        self.assertIn("e is ignored, an identifier: all 10,000 values looked at differ", told)
        model = self.path("m.kith").read_bytes()
        # The same from a pipe, whose rows fit in memory.
        piped = self.ok("train", "feat2vec", "-", *small, stdin=text.encode()).err
        self.assertEqual(self.path("m.kith").read_bytes(), model)
        self.assertIn("drawn from all 30,000", piped)

    def test_types_on_the_command_line(self):
        model = self.path("m.kith")
        result = self.ok("train", self.table, "-o", model, *films.QUICK[:-1], "--types",
                         "year=category,title=ignore", "--types", "country=category")
        self.assertRegex(result.err, r"(?m)^  year +category")
        self.assertNotIn("note     country", result.err)  # the user has spoken
        facts = self.ok("info", model, "--json").json["facts"]
        self.assertEqual(facts["column country"], "category, 1 rows")
        self.assertEqual(facts["column year"], "category, 40 rows")
        self.assertNotIn("column title", facts)


class Asking(kith.TestCase):
    """near, predict, info, similarity, export."""

    def setUp(self):
        super().setUp()
        self.model = films.train(self)
        self.table = self.path("films.kith.csv")

    def near(self, *args):
        return self.ok("near", self.model, *args, "--json").json

    def test_neighbours_of_the_same_column_share_its_topic(self):
        for t in range(films.TOPICS):
            for column, values in (("director", DIRECTORS), ("cast", ACTORS), ("genres", GENRES)):
                answer = self.near(f"{column}={values[t][0]}", "--top", len(values[t]) // 2)
                self.assertEqual(answer["column"], column)
                found = answer["neighbours"]
                self.assertEqual(len(found), len(values[t]) // 2)
                self.assertLessEqual({n["id"] for n in found}, set(values[t][1:]))
                scores = [n["score"] for n in found]
                self.assertEqual(scores, sorted(scores, reverse=True))
                self.assertTrue(all(-1 <= s <= 1.00001 for s in scores), "cosines")

    def test_what_goes_with_a_value_of_another_column(self):
        for t in range(films.TOPICS):
            answer = self.near(f"cast={ACTORS[t][3]}", "--to", "director", "--top", 6)
            self.assertEqual(answer["column"], "director")
            self.assertEqual({topic_of(n["id"]) for n in answer["neighbours"]}, {t})
            answer = self.near(f"year={1952 + 15 * t}", f"genres={GENRES[t][0]}", "--to", "cast")
            self.assertEqual({topic_of(n["id"]) for n in answer["neighbours"]}, {t})

    def test_a_value_without_its_column(self):
        self.assertEqual(self.near("Director 11"), {**self.near("director=Director 11"),
                                                    "query": "Director 11"})
        plain = self.ok("near", self.model, "Genre20", "--top", 2).out
        self.assertEqual(sorted(line.split()[0] for line in plain.splitlines()),
                         ["Genre21", "Genre22"])

    def test_a_value_of_two_columns_must_be_told_apart(self):
        rows = films.films(300)
        for row in rows:
            row["producer"] = row["director"]
        model = films.train(self, "two.kith", rows, *films.QUICK)
        self.refused("near", model, "Director 11", code=kith.BAD_USAGE,
                     says=["director and of producer", "director=Director 11"])

    def test_unknown_values_get_the_nearest_spelling(self):
        self.refused("near", self.model, "director=Directr 11", says=["Directr 11", "Director 11"])
        self.refused("near", self.model, "Actr 205", says=["Actr 205", "cast=Actor 205"])
        self.refused("near", self.model, "genres=Gnre10|Gnre11", says=["Gnre10", "Genre10"])
        # Beside others it is a missing one.
        told = self.ok("near", self.model, "genres=Genre10|Gnre11")
        self.assertIn("kith: warning: genres has no value Gnre11; similar: Genre11", told.err)
        self.assertEqual(told.out, self.ok("near", self.model, "genres=Genre10").out)
        self.refused("predict", self.model, "--target", "year", "director=Directr 11",
                     says=["Directr 11", "Director 11"])
        told = self.ok("predict", self.model, "--target", "year", "director=Directr 11", "genres=Genre10")
        self.assertIn("director has no value Directr 11", told.err)
        self.assertEqual(told.out, self.ok("predict", self.model, "--target", "year", "genres=Genre10").out)

    def test_questions_that_make_no_sense(self):
        for args, says in (
            (["directr=Director 11"], "did you mean director"),
            (["director=Director 11", "--to", "casts"], "did you mean cast"),
            (["year=1960"], "kith predict"),
            (["director=Director 11", "--to", "year"], "kith predict"),
            (["director=Director 11", "director=Director 12", "--to", "cast"], "twice"),
            (["director="], "empty"),
        ):
            self.refused("near", self.model, *args, code=kith.BAD_USAGE, says=says)
        self.refused("near", self.model, "year=soon", "--to", "director", says=["year", "soon"])
        # Of several questions, those that make sense are answered.
        told = kith.run("near", self.model, "director=Director 11", "year=1960", "--json")
        self.assertEqual((told.code, len(told.out.splitlines())), (kith.BAD_INPUT, 1), str(told))
        self.assertIn("kith predict", told.err)

    def test_probabilities_of_a_category(self):
        for t in range(films.TOPICS):
            answer = self.ok("predict", self.model, "--target", "director", "--json", "--top", 1000,
                             f"cast={ACTORS[t][0]}|{ACTORS[t][5]}", f"year={1955 + 15 * t}").json
            self.assertEqual(answer["target"], "director")
            found = answer["predictions"]
            self.assertEqual(len(found), 6 * films.TOPICS)
            self.assertAlmostEqual(sum(p["probability"] for p in found), 1, 4)
            self.assertEqual({topic_of(p["id"]) for p in found[:6]}, {t})
            self.assertGreater(sum(p["probability"] for p in found[:6]), 0.8)
        plain = self.ok("predict", self.model, "--target", "director", "cast=Actor 000", "--top", 3)
        self.assertEqual(len(plain.out.splitlines()), 3)
        self.assertRegex(plain.out, r"^Director \d\d +\d+\.\d %\n")

    def test_a_number_is_expected(self):
        for t in range(films.TOPICS):
            given = [f"genres={GENRES[t][1]}", f"director={DIRECTORS[t][2]}",
                     f"cast={ACTORS[t][1]}|{ACTORS[t][2]}"]
            answer = self.ok("predict", self.model, "--target", "year", *given, "--json").json
            first, last = 1950 + 15 * t, 1959 + 15 * t
            self.assertTrue(first <= answer["median"] <= last, answer)
            self.assertTrue(first - 3 <= answer["prediction"] <= last + 3, answer)
            plain = self.ok("predict", self.model, "--target", "year", *given).out
            told = [float(x) for x in re.findall(r"\d+(?:\.\d+)?", plain)]
            self.assertAlmostEqual(told[0], answer["prediction"], 1)
            self.assertAlmostEqual(told[1], answer["median"], 1)

    def test_a_whole_file_is_predicted_row_by_row(self):
        new = films.films(200, seed=2)
        # Without the column that is asked for, and with a value that nobody has seen.
        rows = [{k: row[k] for k in ("cast", "year", "genres")} for row in new]
        rows[7]["cast"] += "|Stranger"
        file = self.write("new.csv", films.as_csv(rows))
        found = self.ok("predict", self.model, "--target", "director", file, "--top", 1,
                        "--json").json_lines
        self.assertEqual(len(found), len(new))
        right = sum(topic_of(f["predictions"][0]["id"]) == films.topic(row)
                    for f, row in zip(found, new))
        self.assertGreater(right, 195)
        plain = self.ok("predict", self.model, "--target", "director", file).out
        lines = list(csv.DictReader(io.StringIO(plain)))
        self.assertEqual([line["prediction"] for line in lines],
                         [f["predictions"][0]["id"] for f in found])
        self.assertEqual(lines[7]["cast"], rows[7]["cast"])
        self.assertEqual([line["row"] for line in lines], [str(f["row"]) for f in found])
        self.assertGreater(float(lines[0]["probability"]), 0.05)
        for name in ("best.xlsx", "best", "best.npy"):  # names are no numbers
            self.refused("predict", self.model, "--target", "director", file, "-o", self.path(name),
                         code=kith.BAD_USAGE, says=[".csv, .tsv", ".jsonl"])
            self.assertFalse(self.path(name).exists())
        lists = self.path("best.jsonl")
        self.ok("predict", self.model, "--target", "director", file, "-o", lists)
        self.assertEqual(lists.read_text(), "".join(json.dumps(f, separators=(",", ":")) + "\n"
                                                    for f in found))
        self.assertEqual([(f["row"], f["prediction"]) for f in found],
                         [(i, f["predictions"][0]["id"]) for i, f in enumerate(found, 1)])
        self.assertIsInstance(found[0]["year"], int)
        best = self.path("best.csv")
        self.ok("predict", self.model, "--target", "director", file, "--top", 2, "-o", best)
        with best.open() as written:
            both = list(csv.DictReader(written))
        self.assertEqual([b["prediction"] for b in both], [b["prediction"] for b in lines])
        self.assertTrue(all(b["prediction_2"] != b["prediction"] for b in both))
        years = self.ok("predict", self.model, "--target", "year", file, "--json").json_lines
        for answer, row in zip(years, new):
            self.assertLess(abs(answer["prediction"] - float(row["year"])), 20)

    def test_the_target_itself_is_not_looked_at(self):
        asked = ["--target", "director", "cast=Actor 201", "--json"]
        self.assertEqual(self.ok("predict", self.model, *asked).out,
                         self.ok("predict", self.model, *asked, "director=Director 00").out)

    def test_info_of_a_table(self):
        told = self.ok("info", self.model, "--json").json
        self.assertEqual(told["model"], "feat2vec")
        facts = told["facts"]
        self.assertEqual(facts["column director"], "category, 24 rows")
        self.assertEqual(facts["column cast"], "set, 48 rows")
        self.assertEqual(told["metadata"]["table.rows"], "1500")
        self.assertIn("director", self.ok("info", self.model).out)
        self.assertIn("dim = 32", self.ok("info", self.model, "--toml").out)

    def test_similarity_is_by_column_and_value(self):
        def similarity(a, b):
            return float(self.ok("similarity", self.model, a, b).out)
        near = similarity("director=Director 00", "director=Director 01")
        far = similarity("director=Director 00", "director=Director 31")
        self.assertGreater(near, far + 0.2)
        self.refused("similarity", self.model, "director=Directr 00", "director=Director 01",
                     says=["Directr 00", "Director 00"])

    def test_export_names_column_and_value(self):
        out = self.path("v.csv")
        self.ok("export", self.model, "--to", "csv", "-o", out)
        names = [line.split(",")[0].strip('"') for line in out.read_text().splitlines()[1:]]
        self.assertEqual(len(names), len(set(names)))
        self.assertEqual(len(names), 120 + 12 + 48 + 24)
        self.assertIn("director=Director 00", names)
        self.assertIn("cast=Actor 311", names)
        again = self.path("again.kith")
        self.ok("import", out, "-o", again)
        near = self.ok("near", again, "director=Director 20", "--top", 1, "--json").json
        self.assertEqual(topic_of(near["neighbours"][0]["id"].split("=")[1]), 2)


class Rows(kith.TestCase):
    """score and embed: rows as a whole."""

    def setUp(self):
        super().setUp()
        self.model = films.train(self)
        self.table = self.path("films.kith.csv")

    def test_a_swapped_director_is_odd(self):
        rows = films.films(300, seed=3)
        wrong = {}
        for i in random.Random(4).sample(range(len(rows)), 5):
            other = (films.topic(rows[i]) + 1) % films.TOPICS
            rows[i]["director"] = DIRECTORS[other][0]
            wrong[rows[i]["film_id"]] = i
        file = self.write("new.csv", films.as_csv(rows))
        found = self.ok("score", self.model, file, "--name", "film_id", "--top", 5, "--json")
        self.assertEqual({row["id"]: row["row"] - 1 for row in found.json_lines}, wrong)
        for row in found.json_lines:
            worst = max(row["pairs"], key=lambda pair: row["pairs"][pair]["odd"])
            self.assertIn("director", worst)
            self.assertLess(row["pairs"][worst]["score"], row["pairs"][worst]["usual"])
        plain = self.ok("score", self.model, file, "--name", "film_id", "--top", 5).out
        header, *lines = plain.splitlines()
        self.assertIn("because of", header)
        for line in lines:
            self.assertIn(line.split()[0], wrong)
            self.assertRegex(line, r"(x director|director x) -?\d")

    def test_every_row_in_the_order_of_the_file(self):
        rows = films.films(50, seed=3)
        file = self.write("new.csv", films.as_csv(rows))
        score = ["score", self.model, file, "--all", "--json"]
        found = self.ok(*score, "--name", "film_id").json_lines
        self.assertEqual([row["id"] for row in found], [row["film_id"] for row in rows])
        self.assertEqual([row["row"] for row in found], list(range(1, 51)))
        for row in found:
            self.assertAlmostEqual(row["score"], sum(p["score"] for p in row["pairs"].values()), 3)
        # Without a name, a row is its place in the file.
        found = self.ok(*score).json_lines
        self.assertEqual(found[0]["place"], f"{file}:2")
        out = self.path("scores.csv")
        self.ok("score", self.model, file, "--all", "-o", out)
        with out.open() as written:
            self.assertEqual([int(r["row"]) for r in csv.DictReader(written)], list(range(1, 51)))

    def test_rows_become_a_model_that_near_can_ask(self):
        rows = films.films(300, seed=3)
        file, out = self.write("new.csv", films.as_csv(rows)), self.path("rows.kith")
        told = self.ok("embed", self.model, file, "-o", out, "--name", "title")
        self.assertIn("300 rows of length 32", told.err)
        for row in rows[:5]:
            answer = self.ok("near", out, row["title"], "--top", 10, "--json").json
            topics = {n["id"][4] for n in answer["neighbours"]}
            self.assertEqual(topics, {str(films.topic(row))})

    def test_two_rows_of_one_name_stay_two(self):
        rows = films.films(3)
        for row in rows:
            row["title"] = "the same"
        file, out = self.write("new.csv", films.as_csv(rows)), self.path("rows.npy")
        self.ok("embed", self.model, file, "-o", out, "--name", "title")
        self.assertEqual(self.path("rows.npy.names.txt").read_text().splitlines(),
                         ["the same", "the same (2)", "the same (3)"])

    def test_rows_as_an_array(self):
        file, out = self.write("new.csv", films.as_csv(films.films(7, seed=3))), self.path("r.npy")
        self.ok("embed", self.model, file, "-o", out, "--to", "npy", "--quiet")
        data = out.read_bytes()
        self.assertIn(b"(7, 32)", data[:128])
        vectors = struct.unpack(f"<{7 * 32}f", data[-4 * 7 * 32:])
        self.assertEqual(self.path("r.npy.names.txt").read_text().split(), list("1234567"))
        # A part of a row has a vector, too; that of the whole row is the same as from the file.
        row = films.films(7, seed=3)[0]
        terms = [f"{k}={row[k]}" for k in ("title", "year", "genres", "cast", "director")]
        told = self.ok("embed", self.model, *terms, "--json").json
        self.assertEqual(told["query"], terms)
        for a, b in zip(told["vector"], vectors[:32]):
            self.assertAlmostEqual(a, b, 4)

    def test_lists_come_out_as_lists(self):
        rng = random.Random(1)
        rows = [{"id": k, "tags": rng.sample("abcdef", 1 + k % 3), "kind": rng.choice("xyz"),
                 "at": [k % 7 / 2, k % 5, 1.25]} for k in range(200)]
        table = self.write("l.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
        model = self.path("l.kith")
        self.ok("train", table, "-o", model, "--types", "at=vector", *films.QUICK, "--quiet")
        self.ok("predict", model, "--target", "kind", table, "-o", self.path("o.jsonl"))
        told = [json.loads(line) for line in self.path("o.jsonl").read_text().splitlines()]
        for row, out in zip(rows, told, strict=True):
            self.assertEqual((out["tags"], out["at"], out["kind"]),
                             (row["tags"], row["at"], row["kind"]))
        self.ok("predict", model, "--target", "kind", table, "-o", self.path("o.csv"))
        with open(self.path("o.csv"), newline="", encoding="utf-8") as file:
            for row, out in zip(rows, csv.DictReader(file), strict=True):
                self.assertEqual(out["tags"], "|".join(row["tags"]))
                self.assertEqual([float(x) for x in out["at"].split("|")], row["at"])

    def test_what_embed_may_not_write_over(self):
        before = self.table.read_bytes()
        self.refused("embed", self.model, self.table, "-o", self.table, code=kith.BAD_USAGE)
        self.refused("embed", self.model, self.table, "-o", self.model, code=kith.BAD_USAGE)
        self.refused("embed", self.model, self.table, code=kith.BAD_USAGE, says="-o")
        self.refused("score", self.model, self.table, "--name", "nmae", code=kith.BAD_USAGE,
                     says="nmae")
        self.assertEqual(self.table.read_bytes(), before)
        self.ok("info", self.model)


class Updated(kith.TestCase):
    """New values are placed without training."""

    def setUp(self):
        super().setUp()
        self.model = films.train(self)
        self.new = [row for row in films.films(300, seed=5) if films.topic(row) == 2][:20]
        for row in self.new:
            row["director"] = "Newcomer"
        self.file = self.write("new.csv", films.as_csv(self.new))
        self.grown = self.path("grown.kith")

    def test_a_new_director_lands_in_its_topic(self):
        before = self.ok("near", self.model, "director=Director 11", "--json").out
        told = self.ok("update", self.model, self.file, "-o", self.grown, "--json").json
        self.assertEqual(told["output"], str(self.grown))
        self.assertEqual(told["rows"], 20)
        added = {(a["column"], a["id"]): a for a in told["added"]}
        self.assertEqual(added["director", "Newcomer"]["rows"], 20)
        self.assertEqual(told["new"]["director"], 1)
        near = self.ok("near", self.grown, "director=Newcomer", "--top", 5, "--json").json
        self.assertEqual({topic_of(n["id"]) for n in near["neighbours"]}, {2})
        goes = self.ok("near", self.grown, "Newcomer", "--to", "cast", "--top", 10, "--json").json
        self.assertEqual({topic_of(n["id"]) for n in goes["neighbours"]}, {2})
        # The old values stay where they are, and it can be predicted like them.
        after = self.ok("near", self.grown, "director=Director 11", "--json").out
        self.assertNotIn("Newcomer", after)
        self.assertEqual(after, before)
        found = self.ok("predict", self.grown, "--target", "director", "cast=Actor 200|Actor 203",
                        "year=1984", "--json", "--top", 7).json["predictions"]
        self.assertIn("Newcomer", [p["id"] for p in found])

    def test_numbers_are_predicted_as_before(self):
        # The few new rows have years of one topic, or none at all: the others are still possible.
        for rows in (self.new, [{"cast": r["cast"], "director": r["director"]} for r in self.new]):
            self.file.write_text(films.as_csv(rows))
            self.ok("update", self.model, self.file, "-o", self.grown)
            for t in range(films.TOPICS):
                ask = ["--target", "year", f"director={DIRECTORS[t][0]}", f"cast={ACTORS[t][0]}"]
                before = self.ok("predict", self.model, *ask, "--json").json
                after = self.ok("predict", self.grown, *ask, "--json").json
                self.assertAlmostEqual(before["prediction"], after["prediction"], delta=1)
                self.assertEqual(films.topic({"year": after["median"]}), t)

    def test_in_place_and_in_words(self):
        told = self.ok("update", self.model, self.file, "-o", self.model)
        self.assertIn("20 rows read", told.err)
        self.assertRegex(told.err, r"director: 1 new value, in 20 rows")
        self.ok("near", self.model, "Newcomer")
        told = self.ok("update", self.model, self.file, "-o", self.model, "--json").json
        self.assertEqual(told["added"], [])

    def test_what_update_refuses(self):
        before = self.model.read_bytes()
        other = self.write("other.csv", "foo,bar\n1,2\n3,4\n")
        self.refused("update", self.model, other, "-o", self.model, says=["other.csv", "foo, bar"])
        self.refused("update", self.model, self.path("no.csv"), "-o", self.model, says="no.csv")
        self.refused("update", self.model, self.file, code=kith.BAD_USAGE, says="-o")
        self.refused("update", self.model, self.file, "-o", self.file, code=kith.BAD_USAGE)
        self.assertEqual(self.model.read_bytes(), before)


if __name__ == "__main__":
    kith.main()
