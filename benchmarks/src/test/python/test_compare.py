"""Run: python3 -m unittest discover benchmarks/src/test/python"""

import json
import os
import sys
import unittest
import xml.etree.ElementTree

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "main", "python"))
import compare  # noqa: E402
import compute  # noqa: E402
import report  # noqa: E402
from clients import Missing, NotUnderstood, NvidiaSmi, Seen, Unasked, base  # noqa: E402
from readings import COUNTER, IDENTITY, LINK_READINGS, MOVING, READINGS, STATE, STATIC, Row  # noqa: E402


def row(kind, tolerance=0, key="reading"):
    return Row(key, kind, None, None, tolerance)


def verdict(a_row, ours, before, after, client="nvidia-smi"):
    return compare.judge(a_row, ours, before, after, client)[0]


NO_SYMBOL = {"absent": "no_symbol"}


class Judging(unittest.TestCase):
    def test_static_readings_must_be_exact_up_to_what_the_printing_cut_off(self):
        self.assertEqual("same", verdict(row(STATIC), 1023, Seen(1024, 2), Seen(1024, 2)))
        self.assertEqual("differs", verdict(row(STATIC), 1021, Seen(1024, 2), Seen(1024, 2)))
        self.assertEqual("differs", verdict(row(STATIC), 1, Seen(1, 0), Seen(2, 0)))

    def test_moving_readings_lie_between_the_looks_or_within_their_tolerance(self):
        self.assertEqual("same", verdict(row(MOVING, 3), 55, Seen(50, 0), Seen(60, 0)))
        self.assertEqual("same", verdict(row(MOVING, 3), 47, Seen(50, 0), Seen(60, 0)))
        self.assertEqual("differs", verdict(row(MOVING, 3), 46, Seen(50, 0), Seen(60, 0)))
        self.assertEqual("differs", verdict(row(MOVING, 3), 64, Seen(50, 0), Seen(60, 0)))

    def test_counters_do_not_run_backwards(self):
        self.assertEqual("same", verdict(row(COUNTER), 7, Seen(5, 0), Seen(9, 0)))
        self.assertEqual("differs", verdict(row(COUNTER), 4, Seen(5, 0), Seen(9, 0)))

    def test_states_are_those_of_one_look(self):
        self.assertEqual("same", verdict(row(STATE), 8, Seen(0, 0), Seen(8, 0)))
        self.assertEqual("differs", verdict(row(STATE), 2, Seen(0, 0), Seen(8, 0)))

    def test_a_value_that_only_the_client_has_is_missed(self):
        self.assertEqual("missed", verdict(row(STATIC), NO_SYMBOL, Seen(1, 0), Seen(1, 0)))

    def test_a_private_source_excuses_what_no_public_function_answers_and_nothing_else(self):
        margin = row(MOVING, 3, "temperature_margin_celsius")
        self.assertEqual("only elsewhere", verdict(margin, NO_SYMBOL, Seen(40, 0), Seen(40, 0)))
        self.assertEqual("missed", verdict(margin, NO_SYMBOL, Seen(40, 0), Seen(40, 0), "nvidia-ml-py"))
        self.assertEqual("missed", verdict(margin, {"absent": "gpu_lost", "code": 15}, Seen(40, 0), Seen(40, 0)))

    def test_what_a_client_lacks_is_no_difference_and_keeps_its_cause(self):
        self.assertEqual(("not served", "why"), compare.judge(row(STATIC), 1, Missing("why"), Missing("why")))
        self.assertEqual("absent in both", verdict(row(STATIC), NO_SYMBOL, Missing("N/A"), Missing("N/A")))
        self.assertEqual("not served", verdict(row(STATIC), NO_SYMBOL, Unasked("never"), Unasked("never")))

    def test_a_gpu_of_no_fabric_has_no_clique_and_one_of_a_fabric_may_have_clique_0(self):
        none = compare.in_a_fabric({"fabric_state": Seen(0, 0), "fabric_clique": Seen(0, 0), "temperature": Seen(0, 0)})
        self.assertEqual("absent in both", verdict(row(STATIC), NO_SYMBOL, none["fabric_clique"], none["fabric_clique"]))
        self.assertEqual(0, none["fabric_state"].value)
        self.assertEqual(0, none["temperature"].value)
        some = compare.in_a_fabric({"fabric_state": Seen(3, 0), "fabric_clique": Seen(0, 0)})
        self.assertEqual("missed", verdict(row(STATIC), NO_SYMBOL, some["fabric_clique"], some["fabric_clique"]))

    def test_a_text_that_nobody_understands_is_a_failure(self):
        self.assertIn(verdict(row(STATIC), 1, Seen(1, 0), NotUnderstood("new word")), compare.FAILURES)

    def test_texts_and_flags_are_compared_as_they_are(self):
        self.assertEqual("same", verdict(row(STATIC), "GPU-1", Seen("GPU-1", None), Seen("GPU-1", None)))
        self.assertEqual("differs", verdict(row(STATIC), "GPU-1", Seen("GPU-2", None), Seen("GPU-2", None)))
        self.assertEqual("differs", verdict(row(STATIC), True, Seen(False, None), Seen(False, None)))

    def test_a_false_value_is_outside_whatever_would_agree(self):
        for kind, tolerance in ((STATIC, 0), (COUNTER, 0), (MOVING, 64 << 20), (STATE, 0)):
            for looks in ([0, 0], [5, 9], [1 << 40, 1 << 40]):
                wrong = compare.falsified(row(kind, tolerance), looks[0], looks, 1 << 20)
                self.assertEqual("differs", verdict(row(kind, tolerance), wrong, Seen(looks[0], 1 << 20), Seen(looks[1], 1 << 20)))


class Processes(unittest.TestCase):
    OURS = [{"pid": 7, "usedBytes": 1 << 30}]

    def judge(self, seen):
        return compare.judge_processes(self.OURS, Seen(seen, 1 << 20), Seen(seen, 1 << 20))[0]

    def test_the_same_processes_with_about_the_same_memory(self):
        self.assertEqual("same", self.judge({7: (1 << 30) + (8 << 20)}))

    def test_another_process_or_other_memory_differs(self):
        self.assertEqual("differs", self.judge({8: 1 << 30}))
        self.assertEqual("differs", self.judge({7: 2 << 30}))
        self.assertEqual("differs", self.judge({}))

    def test_memory_that_the_client_does_not_know_differs_from_memory_that_is_known(self):
        self.assertEqual("differs", self.judge({7: None}))


class NvidiaSmiTexts(unittest.TestCase):
    def read(self, key, xml):
        rows = {r.key: r for r in READINGS + IDENTITY}
        return NvidiaSmi.reading(ET.fromstring("<gpu>%s</gpu>" % xml), rows[key].smi)

    def test_units_become_base_units(self):
        self.assertEqual(Seen(81559 << 20, 1 << 20), self.read("memory_total_bytes", "<fb_memory_usage><total>81559 MiB</total></fb_memory_usage>"))
        self.assertEqual(1.98e9, self.read("clock_sm_hertz", "<clocks><sm_clock>1980 MHz</sm_clock></clocks>").value)
        self.assertEqual("0000:1b:00.0", self.read("pci", "<pci><pci_bus_id>00000000:1B:00.0</pci_bus_id></pci>").value)

    def test_reasons_become_the_mask_of_the_active_ones(self):
        xml = "<clocks_event_reasons><clocks_event_reason_gpu_idle>Active</clocks_event_reason_gpu_idle><clocks_event_reason_sw_power_cap>Not Active</clocks_event_reason_sw_power_cap><clocks_event_reason_hw_slowdown>Active</clocks_event_reason_hw_slowdown></clocks_event_reasons>"
        self.assertEqual(9, self.read("clock_event_reasons", xml).value)

    def test_sums_are_absent_when_a_part_is(self):
        half = "<ecc_errors><volatile><sram_correctable>1</sram_correctable><dram_correctable>%s</dram_correctable></volatile></ecc_errors>"
        self.assertEqual(3, self.read("ecc_volatile_corrected", half % 2).value)
        self.assertIsInstance(self.read("ecc_volatile_corrected", half % "N/A"), Missing)

    def test_older_and_newer_places_are_found(self):
        self.assertEqual(70.5, self.read("power_usage_watts", "<power_readings><power_draw>70.50 W</power_draw></power_readings>").value)
        self.assertEqual(70.5, self.read("power_usage_watts", "<gpu_power_readings><average_power_draw>70.50 W</average_power_draw></gpu_power_readings>").value)

    def test_missing_elements_and_unknown_words_are_told_apart(self):
        self.assertIsInstance(self.read("fan_speed_ratio", ""), Unasked)
        self.assertIsInstance(self.read("fan_speed_ratio", "<fan_speed>N/A</fan_speed>"), Missing)
        self.assertIsInstance(self.read("compute_mode", "<compute_mode>Shiny</compute_mode>"), NotUnderstood)


class Table(unittest.TestCase):
    def test_each_reading_once_with_a_source_or_a_cause_for_each_client(self):
        for rows in (READINGS, LINK_READINGS, IDENTITY):
            self.assertEqual(len(rows), len({r.key for r in rows}))
            for r in rows:
                for source in (r.smi, r.nvml):
                    self.assertTrue(getattr(source, "cause", "source"))

    def test_raw_values_of_the_c_program_become_base_units(self):
        self.assertEqual(612.0, base("power_usage_watts", 612000))
        self.assertEqual(26562e6, base("speed_bytes_per_second", 26562))
        self.assertEqual(2048, base("nvlink_received_bytes", 2))
        self.assertEqual(5, base("memory_used_bytes", 5))


class Report(unittest.TestCase):
    LOG = "[%10d tests found           ]\n[%10d tests successful      ]\n[%10d tests failed          ]\n"

    def test_contract_tests_pass_when_all_that_were_found_did_and_some_were(self):
        self.assertTrue(report.contract(self.LOG % (32, 32, 0))["passed"])
        self.assertFalse(report.contract(self.LOG % (32, 31, 1))["passed"])
        self.assertFalse(report.contract(self.LOG % (0, 0, 0))["passed"])
        self.assertFalse(report.contract("Exception in thread main")["passed"])

    @staticmethod
    def run_of(**scores):
        return [
            {"benchmark": "x.SamplerBenchmark." + path, "params": {"cadence": cadence}, "primaryMetric": {"score": score}, "secondaryMetrics": {}}
            for path, score in scores.items()
            for cadence in ("FAST", "SLOW")
        ]

    def test_the_sampler_is_judged_by_its_best_measurements(self):
        slow, quiet = self.run_of(c=10, jni=20, jna=30), self.run_of(c=9, jni=11)
        self.assertEqual(report.sampler([slow], simulated=False)["state"], "failed")
        self.assertEqual(report.sampler([slow, quiet], simulated=False)["state"], "passed")

    def test_a_busy_machine_fails_no_build_on_a_simulated_node(self):
        fine = {"passed": True}
        of = lambda runs, simulated: {"contract": fine, "comparison": fine, "compute": [], "vram": [{"state": "reported"}], "repair": [{"state": "passed"}],
                                      "sampler": report.sampler(runs, simulated)}
        runs = [self.run_of(c=10, jni=20, jna=30)]
        slow = of(runs, True)
        self.assertTrue(report.passed(slow, simulated=True))
        self.assertFalse(report.passed(of(runs, False), simulated=False))
        self.assertFalse(report.passed(of([], True), simulated=True))
        self.assertFalse(report.passed(dict(slow, comparison={"passed": False}), simulated=True))
        self.assertFalse(report.passed(dict(slow, vram=[{"state": "not run"}]), simulated=True))

    def test_a_rate_below_its_share_fails_and_one_that_was_not_measured_is_named(self):
        fine = {"passed": True}
        row_of = lambda row, seen, answers: compute.compared(row, seen, ["GPU 0 is busy"], answers, "")
        row = ("DAXPY", 0.9, "daxpy_gigabytes_per_second", 1e9, "rate daxpy %d 20", 1)
        good = row_of(row, {"daxpy_gigabytes_per_second": 95}, ["1e+11"])
        slow = row_of(row, {"daxpy_gigabytes_per_second": 80}, ["1e+11"])
        absent = row_of(row, {}, ["1e+11"])
        self.assertEqual([good["state"], slow["state"], absent["state"]], ["passed", "failed", "not run"])
        self.assertIn("GPU 0 is busy", absent["why"])
        self.assertIn("CUBLAS", row_of(row, {}, ["none"])["why"])
        for rows, passed in (([good, absent], True), ([good, slow], False)):
            self.assertEqual(report.passed({"contract": fine, "comparison": fine, "sampler": {"state": "passed"}, "compute": rows, "vram": [{"state": "passed"}], "repair": [{"state": "passed"}]}, simulated=False), passed)

    def test_a_sampler_that_was_not_measured_has_not_passed(self):
        for runs in ([], [None], [self.run_of(c=10, jni=10)]):
            for simulated in (True, False):
                self.assertEqual(report.sampler(runs, simulated)["state"], "failed")

    def test_json_stays_json_with_a_line_for_each_result(self):
        whole = {"comparison": {"passed": True, "results": [{"reading": "a"}, {"reading": "b"}]}}
        self.assertEqual(whole, json.loads(report.json_lines(whole)))


ET = xml.etree.ElementTree

if __name__ == "__main__":
    unittest.main()
