package dev.gpuwarden.aggregator.drain;

import static dev.gpuwarden.aggregator.drain.Some.NOW;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.drain.DrainPlan.PodPlan;
import dev.gpuwarden.aggregator.drain.DrainPlan.PodPlan.Step;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

class DrainStateTest {

    private static final List<PodPlan> SIGNAL =
            List.of(new PodPlan(Some.read(Some.pod("p")), Step.SIGNAL, "", Optional.of(NOW), NOW));

    private final DrainState drain = new DrainState(() -> {}, Duration.ofSeconds(5));

    /** Decides as a reconciliation does, with an event before its end. */
    private List<PodPlan> decide(Runnable event) {
        Set<String> inFlight = drain.inFlight();
        event.run();
        return drain.take(SIGNAL, inFlight, 8, NOW);
    }

    @Test
    void podHasOneRequestInFlight() {
        assertThat(decide(() -> {})).isEqualTo(SIGNAL);
        assertThat(decide(() -> {})).isEmpty();
    }

    @Test
    void decisionFromBeforeTheEndOfARequestMakesNoSecondOne() {
        assertThat(decide(() -> {})).isEqualTo(SIGNAL);
        assertThat(decide(() -> drain.requested("uid-p"))).isEmpty();
        // The next decision has the request, and plans a signal only if it was withdrawn.
        assertThat(decide(() -> {})).isEqualTo(SIGNAL);
    }

    @Test
    void refusedRequestIsRetriedAfterItsPause() {
        assertThat(decide(() -> {})).isEqualTo(SIGNAL);
        drain.unsent("uid-p", "the API server is busy", false, Duration.ZERO, NOW);
        assertThat(decide(() -> {})).isEmpty();
        assertThat(drain.take(SIGNAL, drain.inFlight(), 8, NOW.plusSeconds(5))).isEqualTo(SIGNAL);
    }
}
