# SPDX-License-Identifier: Apache-2.0
"""Bad tables: one clear line with place and remedy, the promised exit code, nothing written over.
And tables that are only odd: they train, with a word about what is odd."""
import contextlib
import gzip
import json
import random
import sqlite3

import films
import kith
from films import QUICK
from kith import BAD_INPUT, BAD_USAGE


class Untouched(kith.TestCase):
    """What cannot be trained on leaves an existing model as it was."""

    def setUp(self):
        super().setUp()
        self.model = self.write("m.kith", "what stood here before")

    def refused_and_untouched(self, table, *flags, says, code=BAD_INPUT, **options):
        self.refused("train", "feat2vec", table, "-o", self.model, *QUICK, *flags, says=says,
                     code=code, **options)
        self.assertEqual(self.model.read_text(), "what stood here before")
        self.assertFalse(list(self.folder.glob("*.tmp*")))
        self.assertFalse(self.path("m.kith.checkpoint").exists())

    def table(self, text):
        return self.write("t.csv", text)


class Files(Untouched):
    def test_a_row_of_another_length(self):
        good = films.as_csv(films.films(50)).splitlines()
        for line, count in ((f"{good[20]},more", 8), ("only,two", 2)):
            text = "\n".join([*good[:20], line, *good[21:]]) + "\n"
            self.refused_and_untouched(self.table(text),
                                       says=["t.csv:21", f"found {count} cell", "7"])
        # Far behind the rows that the schema is guessed from.
        long = films.as_csv(films.films(12_000)) + "a,b\n"
        self.refused_and_untouched(self.table(long), says=["t.csv:12002", "found 2 cells", "7"])

    def test_headers(self):
        rows = "1,2,3\n4,5,6\n"
        self.refused_and_untouched(self.table("a,b,a\n" + rows),
                                   says=["t.csv:1", "columns 1 and 3", "called a", "--no-header"])
        self.refused_and_untouched(self.table("a,,c\n" + rows),
                                   says=["t.csv:1", "column 2", "no name", "--no-header"])

    def test_a_table_without_a_header(self):
        text = films.as_csv(films.films(100)).split("\n", 1)[1]
        self.ok("train", self.table(text), "-o", self.model, *QUICK, "--no-header")
        facts = self.ok("info", self.model, "--json").json["facts"]
        self.assertEqual(len([f for f in facts if f.startswith("column ")]), 5)

    def test_nothing_in_it(self):
        self.refused_and_untouched(self.table(""), says=["t.csv", "no row"])
        self.refused_and_untouched(self.table("a,b,c\n"), says=["t.csv", "no rows"])
        self.refused_and_untouched("-", says="standard input", stdin=b"")
        for name, text in (("t.jsonl", ""), ("t.json", "[]"), ("t.json", "[{}]")):
            self.refused_and_untouched(self.write(name, text), says=name)
        self.assertFalse(self.path("m.schema.json").exists())

    def test_no_such_table(self):
        self.refused_and_untouched(self.path("no.csv"), says=["no.csv", "no such file"])
        self.path("folder").mkdir()
        self.refused_and_untouched(self.path("folder"), says=["folder"])
        locked = self.table("a,b\n1,2\n")
        locked.chmod(0)
        self.refused_and_untouched(locked, says=["t.csv", "permission"],
                                   preexec_fn=kith.without_root_powers)

    def test_the_table_may_not_be_the_model(self):
        table = self.table("a,b\n1,2\n")
        self.refused("train", "feat2vec", table, "-o", table, *QUICK, code=BAD_USAGE, says="t.csv")
        self.assertEqual(table.read_text(), "a,b\n1,2\n")

    def test_damaged_table_compression(self):
        packed = gzip.compress(films.as_csv(films.films(200)).encode())
        self.refused_and_untouched(self.write("t.csv.gz", packed[:-300]), says="t.csv.gz")

    def test_tables_that_are_no_text(self):
        text = films.as_csv(films.films(50))
        self.refused_and_untouched(self.table(text.encode("utf-16-le")), says="t.csv")
        self.refused_and_untouched(self.table('a,b\n"open,2\n3,4\n'), says=["t.csv:2", "quote"])

    def test_json_that_is_none(self):
        good = '{"a": "x", "b": "y"}\n'
        for name, text, says in (
            ("t.jsonl", good * 3 + '{"a": \n', "t.jsonl:4"),
            ("t.jsonl", good + "hello\n", "t.jsonl:2"),
            ("t.jsonl", good + "[1, 2]\n", "t.jsonl:2"),
            ("t.json", '[{"a": 1, "b": 2}, {"a": 1', "t.json"),
        ):
            self.refused_and_untouched(self.write(name, text), says=says)


class Databases(Untouched):
    def base(self, *statements):
        path = self.path("t.db")
        path.unlink(missing_ok=True)
        with contextlib.closing(sqlite3.connect(path)) as base, base:
            for statement in statements:
                base.execute(statement)
        return path

    def test_two_tables_and_no_query(self):
        base = self.base("CREATE TABLE films(x, y)", "CREATE TABLE people(x, y)",
                         "INSERT INTO films VALUES(1, 2)")
        self.refused_and_untouched(base, says=["2 tables", "--query", "films, people"])
        self.refused_and_untouched(base, "--query", "film", says=["no table film", "films"])
        self.refused_and_untouched(base, "--query", "SELECT z FROM films", says=["t.db", "z"])
        self.refused_and_untouched(base, "--query", "SELEKT x FROM films", says="t.db")
        self.refused_and_untouched(base, "--query", "people", says=["t.db", "no rows"])
        with contextlib.closing(sqlite3.connect(base)) as again:
            self.assertEqual(again.execute("SELECT * FROM films").fetchall(), [(1, 2)])

    def test_a_query_cannot_write(self):
        base = self.base("CREATE TABLE films(x, y)", "INSERT INTO films VALUES(1, 2)")
        before = base.read_bytes()
        self.refused_and_untouched(base, "--query", "DELETE FROM films", says="t.db")
        self.assertEqual(base.read_bytes(), before)

    def test_a_database_without_tables_and_one_cut_off(self):
        self.refused_and_untouched(self.base("CREATE TABLE x(y)", "DROP TABLE x"),
                                   says=["t.db", "no tables"])
        base = self.base("CREATE TABLE films(x, y)",
                         "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < "
                         "5000) INSERT INTO films SELECT i % 7, 'text ' || i % 50 FROM n")
        base.write_bytes(base.read_bytes()[:20_000])
        self.refused_and_untouched(base, says="t.db")

    def test_a_query_for_a_file_that_is_no_database(self):
        table = self.table("a,b\n1,2\n")
        self.refused_and_untouched(table, "--query", "films", code=BAD_USAGE,
                                   says=["t.csv", "query"])

    def test_a_server_that_nobody_runs(self):
        for address in (f"postgresql://kith:s3cret@/films?host={self.folder}",
                        "postgresql://kith:s3cret@127.0.0.1:1/films"):
            self.refused_and_untouched(address, says="cannot connect")
            result = kith.run("train", address, "-o", self.model)
            self.assertNotIn("s3cret", result.err)


class Schemas(Untouched):
    def setUp(self):
        super().setUp()
        self.films = self.table(films.as_csv(films.films(100)))

    def schema(self, text):
        return self.write("s.json", text if isinstance(text, str) else json.dumps(text))

    def with_schema(self, text, says):
        self.refused_and_untouched(self.films, "--schema", self.schema(text), says=["s.json", says])

    def test_schemas_that_do_not_fit(self):
        def column(**keys):
            return {"columns": [{"name": "director", "type": "category", **keys}]}
        for text, says in (
            ({"columns": [{"name": "directr", "type": "category"}]}, "did you mean director"),
            (column(type="categry"), "did you mean category"),
            (column(minimum=2), "minimum"),
            (column(knots=1), "between 2 and 1024"),
            (column(interacts=["casts"]), "did you mean cast"),
            ({"columns": [{"name": "director"}]}, "type is missing"),
            ({"columns": [{"type": "set"}]}, "name"),
            ({"columns": 3}, "columns must be a list"),
            ({"column": []}, "did you mean columns"),
            ([], "columns"),
            ("hello", "s.json:1: this is not json"),
            ('{"columns": [\n  {"name": "director",\n}]}', "s.json:3: this is not json"),
            ("", "not json"),
        ):
            self.with_schema(text, says)

    def test_types_that_do_not_fit(self):
        for types, says in (("directr=category", "did you mean director"),
                            ("director=categry", "category"),
                            ("director", "year=category,notes=ignore")):
            self.refused_and_untouched(self.films, "--types", types, code=BAD_USAGE, says=says)
        self.refused_and_untouched(self.films, "--types", "director=number",
                                   says=["director", "number", "100"])

    def test_too_few_columns_are_left(self):
        rows = [{k: row[k] for k in ("film_id", "director", "country")} for row in films.films(50)]
        table = self.table(films.as_csv(rows))
        self.refused_and_untouched(table, says="of the 3 columns here only director can be used")
        types = "film_id=ignore,director=ignore"
        self.refused_and_untouched(table, "--types", types, says="of the 3 columns here none can be used")

    def test_targets_that_are_not_there(self):
        for target, says in (("directr", "did you mean director"), ("zzz", "it has film_id"),
                             ("country", "--types country=category")):
            self.refused_and_untouched(self.films, "--target", target, code=BAD_USAGE, says=says)


class Odd(kith.TestCase):
    """Tables with something odd in them train all the same."""

    def setUp(self):
        super().setUp()
        self.model = self.path("m.kith")
        self.rows = films.films(600)

    def train(self, rows, *flags):
        table = self.write("t.csv", films.as_csv(rows))
        return self.ok("train", "feat2vec", table, "-o", self.model, *QUICK[:-1], *flags)

    def test_columns_that_say_nothing_are_ignored_with_a_reason(self):
        for row in self.rows:
            row["nothing"] = ""
        result = self.train(self.rows)
        for name, why in (("film_id", "all 600 values differ"), ("nothing", "cell is missing"),
                          ("country", "every cell is the same: Utopia")):
            self.assertRegex(result.err, rf"(?m)^note     {name} is ignored, .*{why}")

    def test_text_among_the_numbers(self):
        self.rows[3]["year"], self.rows[7]["year"] = "around 1960", "19x5"
        for name in ("NA", "null"):
            self.rows[9]["year"] = name
        result = self.train(self.rows)
        # The header is line 1, so row 4 is line 5. What says "missing" is no mistake.
        self.assertRegex(result.err, r"(?m)^kith: warning: column year: 2 cells .* count as missing; the "
                                     r"first is \S+t\.csv:5: \"around 1960\"$")
        self.assertEqual(self.ok("info", self.model, "--json").json["facts"]["column year"][:6],
                         "number")
        # Asking is as forgiving as training, and says where.
        table = self.path("t.csv")
        for command in (["score", self.model, table, "--all"],
                        ["predict", self.model, "--target", "director", table],
                        ["eval", self.model, table, "--target", "director"],
                        ["embed", self.model, table, "-o", self.path("rows.kith")]):
            told = self.ok(*command).err
            lines = [line for line in told.splitlines() if line.startswith("kith: ")]
            self.assertEqual(len(lines), 1, told)
            self.assertRegex(lines[0], r"t\.csv:5: column year: \"around 1960\" .*missing")

    def test_no_number_and_infinity(self):
        for i, text in enumerate(("NaN", "nan", "inf", "-inf", "Infinity", "1e999")):
            self.rows[i]["year"] = text
        self.train(self.rows)
        told = self.ok("predict", self.model, "--target", "year", "cast=Actor 000", "--json").json
        self.assertTrue(1940 < told["prediction"] < 2010, told)
        self.assertNotIn("nan", self.ok("export", self.model, "--to", "csv", "-o", "-").out)

    def test_a_tenth_is_missing_everywhere(self):
        rng = random.Random(1)
        rows = films.films(1500)
        for row in rows:
            for name in row:
                if rng.random() < 0.1:
                    row[name] = ""
        table = self.write("t.csv", films.as_csv(rows))
        result = self.ok("train", table, "-o", self.model, "--threads", 1, "--dim", 32)
        self.assertRegex(result.err, r"(?m)^  director +category +24 +\d+\.\d %")
        near = self.ok("near", self.model, "director=Director 20", "--top", 5, "--json").json
        self.assertEqual({films.topic_of(n["id"]) for n in near["neighbours"]}, {2})
        self.ok("score", self.model, table)
        self.ok("eval", self.model, table, "--target", "director")

    def test_a_set_of_a_hundred_thousand(self):
        members = 5_000 if kith.SANITIZED else 100_000
        self.rows[5]["cast"] = "|".join(f"m{i}" for i in range(members))
        self.train(self.rows, "--types", "cast=set")
        facts = self.ok("info", self.model, "--json").json["facts"]
        self.assertEqual(facts["column cast"], f"set, {48 + members} rows")
        near = self.ok("near", self.model, "Actor 000", "--to", "director", "--top", 3,
                       "--json").json
        self.assertEqual({films.topic_of(n["id"]) for n in near["neighbours"]}, {0})

    def test_one_huge_cell_does_not_change_the_type(self):
        self.rows[5]["cast"] = "|".join(f"m{i}" for i in range(100_000))
        self.assertRegex(self.train(self.rows).err, r"(?m)^  cast +set by \|")

    def test_dates_by_day_and_month(self):
        # A day above 12 tells the order for all of them.
        rng = random.Random(1)
        for row in self.rows:
            row["released"] = f"{rng.randint(1, 28):02}/{rng.randint(1, 12):02}/{row['year']}"
        result = self.train(self.rows)
        self.assertRegex(result.err, r"(?m)^  released +date")
        self.assertNotIn("could not be read", result.err)
        told = self.ok("predict", self.model, "--target", "released", "year=1984", "--json").json
        self.assertGreater(told["median"], 0)  # days since 1970

    def test_many_rows_alike_and_a_single_one(self):
        self.train([dict(self.rows[0]), dict(self.rows[1])] * 200)
        self.train(self.rows[:2])
        one = self.write("one.csv", films.as_csv(self.rows[:1]))
        result = kith.run("train", "feat2vec", one, "-o", self.model, *QUICK)
        self.assertIn(result.code, (kith.DONE, BAD_INPUT), str(result))
        self.assertNotIn("nan", self.ok("export", self.model, "--to", "csv", "-o", "-").out)


class Models(kith.TestCase):
    def setUp(self):
        super().setUp()
        self.model = films.train(self, "m.kith", films.films(200), *QUICK)
        self.table = self.path("m.kith.csv")

    def test_a_model_cut_off_or_changed(self):
        whole, bad = self.model.read_bytes(), self.path("bad.kith")
        rng = random.Random(1)
        cuts = [whole[:n] for n in (0, 1, 8, 100, len(whole) // 2, len(whole) - 1)]
        for _ in range(4):
            changed = bytearray(whole)
            changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
            cuts.append(bytes(changed))
        for data in cuts:
            bad.write_bytes(data)
            for command in (["near", bad, "director=Director 00"],
                            ["predict", bad, "--target", "director", "year=1950"],
                            ["score", bad, self.table],
                            ["update", bad, self.table, "-o", self.path("out.kith")]):
                self.refused(*command, says="bad.kith")
        self.assertFalse(self.path("out.kith").exists())

    def test_a_model_of_words_knows_no_columns(self):
        words = kith.train_quick(self)
        for command in (["predict", words, "--target", "director", "year=1950"],
                        ["score", words, self.table],
                        ["update", words, self.table, "-o", self.path("out.kith")]):
            self.refused(*command, code=BAD_USAGE, says=["words.kith", "word2vec", "for models that"])
        self.refused("near", words, "hill0", "--to", "director", code=BAD_USAGE,
                     says="near --to is for models that complete rows of a table")
        self.assertFalse(self.path("out.kith").exists())

    def test_what_predict_refuses(self):
        for args, code, says in (
            (["year=1950"], BAD_USAGE, "--target"),
            (["--target", "directr", "year=1950"], BAD_USAGE, "did you mean director"),
            (["--target", "director", "yaer=1950"], BAD_USAGE, "did you mean year"),
            (["--target", "director", "year="], BAD_USAGE, "empty"),
            (["--target", "director", "year=1950", "year=1951"], BAD_USAGE, "twice"),
            (["--target", "director", "year=soon"], BAD_INPUT, ["year", "soon"]),
            (["--target", "director", "cast=Actr 000"], BAD_INPUT, "Actor 000"),
            (["--target", "director", "--top", 0, "year=1950"], BAD_USAGE, "top"),
            (["--target", "director", self.path("no.csv")], BAD_INPUT, ["no.csv", "no such file"]),
            (["--target", "director"], BAD_USAGE, "column=value"),
        ):
            self.refused("predict", self.model, *args, code=code, says=says)
        other = self.write("other.csv", "foo,bar\n1,2\n")
        for command in (["predict", self.model, "--target", "director", other],
                        ["score", self.model, other],
                        ["embed", self.model, other, "-o", self.path("out.kith")],
                        ["eval", self.model, other, "--target", "director"]):
            self.refused(*command, says=["other.csv", "foo, bar"])
        self.assertFalse(self.path("out.kith").exists())

    def test_a_ragged_row_in_the_middle_of_asking(self):
        table = self.write("t.csv", self.table.read_text() + "a,b\n")
        for command in (["predict", self.model, "--target", "director", table],
                        ["score", self.model, table],
                        ["embed", self.model, table, "-o", self.path("out.kith")],
                        ["update", self.model, table, "-o", self.path("out.kith")]):
            self.refused(*command, says=["t.csv:202", "found 2 cells"])
        self.assertFalse(self.path("out.kith").exists())


if __name__ == "__main__":
    kith.main()
