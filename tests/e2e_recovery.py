# SPDX-License-Identifier: Apache-2.0
"""recover-demo: far above the bound every matrix is recovered, below it none; a picture of it."""
import xml.etree.ElementTree

import kith

SMALL = ["--size", 24, "--ranks", 4, "--shares", 10, "--trials", 2, "--quiet"]


class Recovery(kith.TestCase):
    def map(self, *flags):
        return self.ok("recover-demo", *SMALL, "--json", *flags).json

    def test_succeeds_far_above_the_bound_and_fails_below_it(self):
        quick = ["--ranks", 2, "--shares", 10, "--trials", 1]
        for method, flags in (("svp", []), ("nuclear", quick)):
            answer = self.map("--method", method, *flags)
            self.assertEqual(answer["size"], 24)
            self.assertEqual(len(answer["shares"]), 10)
            self.assertEqual([row["rank"] for row in answer["ranks"]],
                             [1, 2] if flags else [1, 2, 3, 4])
            for row in answer["ranks"]:
                k = row["rank"]
                self.assertAlmostEqual(row["bound"], (2 * 24 * k - k * k) / 24 ** 2, places=5)
                self.assertEqual(row["success"][-1], 1, "all entries: nothing to guess")
                for share, success in zip(answer["shares"], row["success"]):
                    if share < row["bound"]:
                        self.assertEqual(success, 0, row)
            # Rank 1 from 90 % of the entries, eleven times as many as it takes to count.
            self.assertEqual(answer["ranks"][0]["success"][8], 1, answer)

    def test_is_the_same_for_any_number_of_threads_and_differs_with_the_seed(self):
        one = self.map("--threads", 1)
        self.assertEqual(one, self.map("--threads", 4))
        self.assertNotEqual(one["ranks"], self.map("--seed", 7)["ranks"])

    def test_draws_an_svg_with_axes_legend_and_bound(self):
        path = self.path("recovery.svg")
        shown = self.ok("recover-demo", *SMALL, "-o", path).out
        self.assertIn("██", shown)
        self.assertIn("of the entries observed", shown)
        root = xml.etree.ElementTree.parse(path).getroot()
        space = "{http://www.w3.org/2000/svg}"
        words = " ".join(text.text or "" for text in root.iter(space + "text"))
        for expected in ("share of the entries observed", "rank k", "2nk", "recovered", "100 %"):
            self.assertIn(expected, words)
        self.assertEqual(len(list(root.iter(space + "polyline"))), 1)
        self.assertGreaterEqual(len(list(root.iter(space + "rect"))), 4 * 10)
        self.leftovers("recovery.svg")

    def test_nonsense_is_refused(self):
        self.refused("recover-demo", "--size", 5, "--ranks", 9, code=kith.BAD_USAGE,
                     says=("--ranks 9", "--size 5"))
        self.refused("recover-demo", "model.kith", code=kith.BAD_USAGE)
        self.refused("recover-demo", *SMALL, "-o", "/nonexistent/folder/x.svg")


if __name__ == "__main__":
    kith.main()
