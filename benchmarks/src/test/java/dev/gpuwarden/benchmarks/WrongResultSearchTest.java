package dev.gpuwarden.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.testkit.sim.SimulatedNode;
import org.junit.jupiter.api.Test;

/** A small sample of `benchmarks/wrong-results`. */
class WrongResultSearchTest {

    @Test
    void noRunIsAFalseAlarmAndNoPlantedFaultIsMissed() {
        try (SimulatedNode node = SimulatedNode.start("h100x8")) {
            WrongResultSearch search = new WrongResultSearch(node, 20261124);
            search.clean(WrongResultSearch.Kind.VECTORS);
            search.planted(WrongResultSearch.Kind.VECTORS, "bit", 7);
            search.planted(WrongResultSearch.Kind.MEMORY, "bits", 0);
            search.planted(WrongResultSearch.Kind.MIXED, "fragment", 3);
            assertThat(search.failures()).isEmpty();
        }
    }
}
