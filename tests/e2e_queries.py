# SPDX-License-Identifier: Apache-2.0
"""Queries on vectors made by hand, whose answers are known; evaluation as gensim does it."""
import math
import random
import warnings

import kith

# In the plane, by angle in degrees; lengths differ, because cosines must not care.
ANGLES = {"east": (0, 1), "eastish": (10, 5), "northeast": (45, 0.1), "north": (90, 2),
          "northwest": (135, 1), "west": (180, 3), "south": (270, 1)}


def cosine(a, b):
    return math.cos(math.radians(ANGLES[a][0] - ANGLES[b][0]))


class Plane(kith.TestCase):
    def setUp(self):
        super().setUp()
        lines = [f"{name} {length * math.cos(math.radians(angle)):.9f} "
                 f"{length * math.sin(math.radians(angle)):.9f} 0"
                 for name, (angle, length) in ANGLES.items()]
        text = self.write("plane.txt", f"{len(lines)} 3\n" + "\n".join(lines) + "\n")
        self.model = self.path("plane.kith")
        self.ok("import", text, "-o", self.model)

    def test_near(self):
        answer = self.ok("near", self.model, "east", "--top", 3, "--json").json
        self.assertEqual(answer["query"], "east")
        self.assertEqual([n["id"] for n in answer["neighbours"]], ["eastish", "northeast", "north"])
        for n in answer["neighbours"]:
            self.assertAlmostEqual(n["score"], cosine("east", n["id"]), 5)

    def test_near_never_answers_with_the_query_and_stops_at_the_end(self):
        answer = self.ok("near", self.model, "east", "--top", 100, "--json").json["neighbours"]
        self.assertEqual(sorted(n["id"] for n in answer), sorted(set(ANGLES) - {"east"}))
        scores = [n["score"] for n in answer]
        self.assertEqual(scores, sorted(scores, reverse=True))

    def test_near_for_people(self):
        out = self.ok("near", self.model, "east", "--top", 2).out
        self.assertLess(out.index("eastish"), out.index("northeast"))
        self.assertNotIn("west", out.replace("northwest", ""))

    def test_several_queries(self):
        answers = self.ok("near", self.model, "east", "west", "--top", 1, "--json").json_lines
        self.assertEqual([a["query"] for a in answers], ["east", "west"])
        self.assertEqual([a["neighbours"][0]["id"] for a in answers], ["eastish", "northwest"])

    def test_analogy(self):
        def by_product(x, a, b, c):  # 3CosMul of Levy and Goldberg
            near = {other: (1 + cosine(x, other)) / 2 for other in (a, b, c)}
            return near[b] * near[c] / (near[a] + 1e-3)
        given = ("east", "north", "northeast")
        # 3CosAdd: north - east + northeast points to 112.5 degrees, nearest to northwest once the
        # three given words are out.
        by_mul = max(set(ANGLES) - set(given), key=lambda x: by_product(x, *given))
        for rule, expected in (("add", "northwest"), ("mul", by_mul)):
            answer = self.ok("analogy", self.model, *given, "--rule", rule, "--json").json
            found = [n["id"] for n in answer["neighbours"]]
            self.assertEqual(found[0], expected, rule)
            self.assertFalse(set(given) & set(found))

    def test_similarity(self):
        answer = self.ok("similarity", self.model, "east", "northeast", "--json").json
        self.assertAlmostEqual(answer["score"], math.sqrt(0.5), 5)
        out = self.ok("similarity", self.model, "east", "west").out
        self.assertAlmostEqual(float(out.split()[-1]), -1, 3)

    def test_odd(self):
        answer = self.ok("odd", self.model, "east", "eastish", "northeast", "west", "--json").json
        self.assertEqual(answer["id"], "west")

    def test_odd_needs_three(self):
        self.refused("odd", self.model, "east", "west", code=kith.BAD_USAGE)

    def test_a_sum_of_words(self):
        # east + north points to the northeast, and the words of the sum are not answers.
        answer = self.ok("near", self.model, "east + north", "--top", 2, "--json").json
        self.assertEqual([n["id"] for n in answer["neighbours"]], ["northeast", "eastish"])

    def test_queries_from_a_file(self):
        file = self.write("queries.txt", "east\nwest\r\n\nnorth")
        answers = self.ok("near", self.model, "--queries", file, "--json").json_lines
        self.assertEqual([a["query"] for a in answers], ["east", "west", "north"])

    def test_of_several_queries_those_are_answered_that_can_be(self):
        result = kith.run("near", self.model, "east", "nowhere", "--json")
        self.assertEqual(result.code, kith.BAD_INPUT)
        self.assertEqual([a["query"] for a in result.json_lines], ["east"])
        self.assertIn("nowhere", result.error)

    def test_restrict(self):
        answer = self.ok("near", self.model, "south", "--restrict", 3, "--json").json
        self.assertEqual({n["id"] for n in answer["neighbours"]}, set(list(ANGLES)[:3]))

    def test_hnsw_prints_its_recall(self):
        result = self.ok("near", self.model, "east", "--top", 3, "--search", "hnsw")
        self.assertRegex(result.err, r"finds \d+\.\d % of the true top 10")
        names = ("eastish", "northeast", "north")
        self.assertEqual(sorted(names, key=result.out.index), list(names))


class Evaluation(kith.TestCase):
    """The same vectors and files through gensim's own evaluation."""

    def setUp(self):
        super().setUp()
        warnings.filterwarnings("ignore")
        import numpy as np
        from gensim.models import KeyedVectors
        rng = np.random.default_rng(3)
        self.random = random.Random(3)
        self.words = [f"w{i}" for i in range(300)]
        # A noisy low-rank structure, so that some analogies hold and some do not.
        base = rng.standard_normal((300, 3)) @ rng.standard_normal((3, 12))
        values = (base + 0.7 * rng.standard_normal((300, 12))).astype(np.float32)
        self.gensim = KeyedVectors(12)
        self.gensim.add_vectors(self.words, values)
        file = self.path("v.bin")
        self.gensim.save_word2vec_format(file, binary=True)
        self.words = list(self.gensim.index_to_key)
        self.model = self.path("m.kith")
        self.ok("import", file, "-o", self.model)

    def eval(self, file, *flags):
        return self.ok("eval", self.model, file, "--json", *flags).json

    def test_similarity_as_gensim(self):
        lines = []
        for _ in range(200):
            a, b = self.random.sample(self.words, 2)
            # Few distinct scores, so that ties matter; some words that are not there.
            score = round(5 + 5 * float(self.gensim.similarity(a, b))) + self.random.choice((0, 1))
            lines.append(f"{a if self.random.random() > .05 else 'unknown'}\t{b}\t{score}")
        file = self.write("pairs.tsv", "\n".join(lines) + "\n")
        _, spearman, missing = self.gensim.evaluate_word_pairs(str(file), dummy4unknown=False)
        answer = self.eval(file)
        self.assertAlmostEqual(answer["spearman"], spearman[0], 5)
        self.assertAlmostEqual(answer["skipped"], 200 * missing / 100, 6)

    def questions(self):
        lines = []
        for section in ("capitals", "gram1-adverb"):
            lines.append(": " + section)
            for _ in range(150):
                a, b, c = self.random.sample(self.words, 3)
                best = self.gensim.most_similar(positive=[b, c], negative=[a], topn=4)
                lines.append(f"{a} {b} {c} {self.random.choice(best)[0]}")
            lines.append(f"{a} {b} {c} unknown")
        return self.write("questions.txt", "\n".join(lines) + "\n")

    def test_analogies_as_gensim(self):
        file = self.questions()
        for restrict in (300, 120):
            accuracy, _ = self.gensim.evaluate_word_analogies(
                str(file), restrict_vocab=restrict, case_insensitive=False)
            answer = self.eval(file, "--restrict", restrict)
            self.assertAlmostEqual(answer["accuracy"], accuracy, 5)
            self.assertGreater(accuracy, 0.05)
            self.assertLess(accuracy, 0.6)

    def test_sections(self):
        file = self.questions()
        _, sections = self.gensim.evaluate_word_analogies(str(file), case_insensitive=False)
        right = {s["section"]: len(s["correct"]) / 150 for s in sections}
        answer = self.eval(file)
        self.assertAlmostEqual(answer["semantic"], right["capitals"], 5)
        self.assertAlmostEqual(answer["syntactic"], right["gram1-adverb"], 5)
        self.assertEqual(answer["asked"], 300)
        self.assertEqual(answer["skipped"], 2)
        self.assertEqual([s["id"] for s in answer["sections"]],
                         ["capitals", "gram1-adverb", "semantic", "syntactic", "all"])
        for s in answer["sections"][:2]:
            self.assertEqual((s["right"], s["asked"]), (round(150 * right[s["id"]]), 150))

    def test_json_says_how_analogies_were_asked(self):
        file = self.questions()
        for flags, protocol in (([], (300, "add")), (["--restrict", 120], (120, "add")),
                                (["--restrict", "auto", "--rule", "mul"], (300, "mul"))):
            answer = self.eval(file, *flags)
            self.assertEqual((answer["restrict"], answer["rule"]), protocol)

    def test_several_files_at_once(self):
        pairs = self.write("pairs.tsv", "w1\tw2\t3\nw3\tw4\t5\nw5\tw6\t1\n")
        answer = self.ok("eval", self.model, self.questions(), pairs, "--json").json
        files = [answer["files"][str(self.path(n))] for n in ("questions.txt", "pairs.tsv")]
        self.assertEqual(answer["accuracy"], files[0]["accuracy"])
        self.assertEqual(answer["spearman"], files[1]["spearman"])

    def test_a_file_of_neither_kind(self):
        file = self.write("prose.txt", "It was the best of times, it was the worst of times.\n")
        self.refused("eval", self.model, file, says="prose.txt")

    def test_no_question_can_be_asked(self):
        file = self.write("questions.txt", ": x\na b c d\n")
        result = kith.run("eval", self.model, file, "--json")
        self.assertNotIn("nan", result.out.lower())

    def test_baselines_are_shown(self):
        # A true score is worth little without a floor beside it.
        self.assertIn("baselines", self.eval(self.questions()))


class Graph(kith.TestCase):
    def test_recall_is_near_one_and_answers_agree(self):
        rng = random.Random(1)
        rows, dim = (500, 8) if kith.SANITIZED else (3000, 16)
        lines = [f"{rows} {dim}"]
        for i in range(rows):
            lines.append(f"n{i} " + " ".join(f"{rng.gauss(0, 1):.6f}" for _ in range(dim)))
        file, model = self.write("v.txt", "\n".join(lines) + "\n"), self.path("m.kith")
        self.ok("import", file, "-o", model)
        queries = [f"n{i}" for i in range(0, rows, rows // 50)]
        exact = self.ok("near", model, *queries, "--json", "--search", "exact").json_lines
        graph = self.ok("near", model, *queries, "--json", "--search", "hnsw").json_lines
        common = sum(len({n["id"] for n in a["neighbours"]} & {n["id"] for n in b["neighbours"]})
                     for a, b in zip(exact, graph))
        self.assertGreater(common / (10 * len(queries)), 0.9)


if __name__ == "__main__":
    kith.main()
