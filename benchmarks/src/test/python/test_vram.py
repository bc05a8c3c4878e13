"""Run: python3 -m unittest discover benchmarks/src/test/python"""

import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "main", "python"))
import vram  # noqa: E402

MIB = 1 << 20


class Duties(unittest.TestCase):
    def states(self, memory, processes):
        return [row["state"] for row in vram.duties(memory, processes)]

    def test_the_time_of_all_gpus_counts(self):
        self.assertEqual(["passed"] * 3, self.states("8 3000 4000 3100", "8 100000 300000 120000"))
        self.assertEqual("failed", self.states("8 3000 4000 3200", "8 1 1 1")[0])

    def test_lists_of_4_5_ms_are_too_much_on_eight_gpus(self):
        self.assertEqual(["failed", "failed"], self.states("8 1 1 1", "8 4500000 5000000 4500000")[1:])
        self.assertEqual(["passed", "passed"], self.states("1 1 1 1", "1 4500000 5000000 4500000")[1:])


class Slowdown(unittest.TestCase):
    def state(self, quiet, sampled):
        return vram.slowdown("daxpy", 4, quiet, sampled)["state"]

    def test_within_the_goal(self):
        self.assertEqual("passed", self.state([100, 100.1, 99.9], [99.9, 99.9, 100]))

    def test_beyond_the_goal(self):
        self.assertEqual("failed", self.state([100, 100.1, 99.9], [99.5, 99.5, 99.6]))

    def test_rates_that_vary_more_than_the_goal_decide_nothing(self):
        self.assertEqual("undecided", self.state([100, 101, 99], [100, 100, 100]))
        self.assertEqual("undecided", self.state([100, 101, 99], [99.5, 99.5, 99.5]))


class Attribution(unittest.TestCase):
    def top(self, used, rest=0, over=0, holders=((7, 1100 * MIB),)):
        return {"gpus": [{"holders": []}, {
            "usedBytes": used, "unattributedBytes": rest, "overattributedBytes": over, "holders": [{"pid": pid, "usedBytes": size} for pid, size in holders]}]}

    def state(self, *figures, **others):
        return vram.attribution(self.top(*figures, **others), {7: 1000 * MIB})["state"]

    def test_a_small_rest_passes(self):
        self.assertEqual("passed", self.state(1164 * MIB, 64 * MIB))
        self.assertEqual("failed", self.state(1165 * MIB, 65 * MIB))
        self.assertEqual("failed", self.state(1035 * MIB, 0, 65 * MIB))

    def test_parts_must_add_up(self):
        self.assertEqual("failed", self.state(1164 * MIB, 32 * MIB))

    def test_a_process_with_less_than_it_allocated_is_wrong(self):
        self.assertEqual("failed", self.state(900 * MIB, holders=((7, 900 * MIB),)))

    def test_what_the_driver_does_not_state_is_not_run(self):
        self.assertEqual("not run", self.state({"absent": "no_permission"}))
        self.assertEqual("not run", self.state(1100 * MIB, holders=((8, 1100 * MIB),)))
        self.assertEqual("not run", vram.attribution({"gpus": []}, {7: 1})["state"])


if __name__ == "__main__":
    unittest.main()
