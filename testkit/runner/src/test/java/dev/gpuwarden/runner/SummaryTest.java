package dev.gpuwarden.runner;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.runner.jvm.Line;
import dev.gpuwarden.runner.jvm.Tier;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

class SummaryTest {

    private static Outcome outcome(Tier tier, Line... lines) {
        return new Outcome(new Job(tier, "daemon", "", List.of()), List.of(lines), 61_000, Path.of("log"));
    }

    private static Line ended(String name, long millis) {
        return new Line(Line.Kind.CLASS, name, "", millis, "");
    }

    @Test
    void countsEachTestOnce() {
        Summary summary = new Summary(List.of(outcome(
                Tier.API,
                new Line(Line.Kind.PASSED, "a.BTest", "x", 5, ""),
                new Line(Line.Kind.FAILED, "a.BTest", "y", 5, "why"),
                new Line(Line.Kind.SKIPPED, "a.BTest", "z", 0, "no kubectl\nand more"),
                ended("a.BTest", 10))));
        assertThat(summary.total()).isEqualTo("1 passed, 1 failed, 1 skipped");
        assertThat(summary.skipped()).containsExactly("  a.BTest#z: no kubectl");
        assertThat(summary.tiers()).isEqualTo("api 61 s");
    }

    @Test
    void aSlowClassIsNamedUnlessItIsASoak() {
        Line slow = ended("a.SlowTest", 30_001);
        Summary.SlowClasses none = Summary.SlowClasses.listed();
        assertThat(new Summary(List.of(outcome(Tier.API, slow, ended("a.FastTest", 30_000))))
                        .over(Summary.SlowClasses.LIMIT_MILLIS, none))
                .containsExactly(slow);
        assertThat(Summary.tooSlow(slow)).startsWith("a.SlowTest: expected at most 30 s, took 30.0 s");
        assertThat(new Summary(List.of(outcome(Tier.SOAK, slow))).over(Summary.SlowClasses.LIMIT_MILLIS, none))
                .isEmpty();
    }

    @Test
    void theSlowestComesFirst() {
        assertThat(new Summary(List.of(outcome(Tier.API, ended("a.A", 1_000), ended("a.B", 2_000)))).slowest())
                .containsExactly("     2.0 s  a.B", "     1.0 s  a.A");
    }
}
