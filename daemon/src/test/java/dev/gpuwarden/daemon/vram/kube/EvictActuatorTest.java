package dev.gpuwarden.daemon.vram.kube;

import static dev.gpuwarden.testkit.Await.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.api.VramCodec;
import dev.gpuwarden.api.v1.Acknowledgement;
import dev.gpuwarden.api.v1.BudgetedPod;
import dev.gpuwarden.api.v1.Welcome;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.util.Wakeup;
import dev.gpuwarden.daemon.vram.VramFixture;
import dev.gpuwarden.daemon.vram.action.Actuator;
import dev.gpuwarden.daemon.vram.action.Actuator.Outcome;
import dev.gpuwarden.watchdog.decision.Decision;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/** Requests to an aggregator: some are attempts, others are refused before one. */
class EvictActuatorTest {

    private static final BudgetedPod POD = BudgetedPod.newBuilder()
            .setUid("uid-a")
            .setNamespace("ml")
            .setName("a")
            .build();

    private static final Decision DECISION = VramFixture.incident(
                    GpuIdentity.unknown(0, (Reading.Absent<?>) Reading.absent(Absence.NO_DATA)), Instant.EPOCH)
            .decision();

    private final VramRequests requests = new VramRequests(VramCodec.RESOURCE);
    private final Actuator actuator = requests.eviction(
            new PodTerms(requests::pods, () -> Reading.absent(Absence.NO_DATA), () -> 1), Duration.ofSeconds(5));

    private void connect() {
        requests.welcome(
                Welcome.newBuilder().setVramResource(VramCodec.RESOURCE).build(), new Wakeup());
        VramCodec.pages(1, List.of(POD)).forEach(page -> requests.received(page));
    }

    private Outcome recycle(String uid) {
        return actuator.recycle(DECISION, VramFixture.tenant(uid, 1800, 5000), Optional::empty);
    }

    /** @param answer by the id of the request */
    private Outcome recycle(Function<String, Acknowledgement> answer) throws Exception {
        connect();
        CompletableFuture<Outcome> outcome = CompletableFuture.supplyAsync(() -> recycle("uid-a"));
        AtomicReference<String> id = new AtomicReference<>();
        until(
                () -> {
                    requests.next().ifPresent(report -> id.set(report.getEvict().getId()));
                    return id.get() != null;
                },
                "the aggregator is asked");
        requests.received(answer.apply(id.get()));
        return outcome.join();
    }

    @Test
    void aPodThatTheListLacksIsNoAttempt() {
        connect();
        assertThat(recycle("uid-b"))
                .isEqualTo(Outcome.refused("the aggregator's list of budgets does not have uid-b any more"));
    }

    @Test
    void aRequestWithoutAConnectionIsNoAttempt() {
        connect();
        requests.end();
        assertThat(recycle("uid-a")).isEqualTo(Outcome.refused("the node has no connection to its aggregator"));
    }

    @Test
    void aRefusalOfTheAggregatorIsNoAttempt() throws Exception {
        assertThat(recycle(id -> VramCodec.refused(id, "the pod has the label")))
                .isEqualTo(Outcome.refused("the pod has the label"));
    }

    @Test
    void aRefusalOfTheApiServerIsAnAttempt() throws Exception {
        assertThat(recycle(id -> VramCodec.answer(id, false, "a disruption budget")))
                .isEqualTo(new Outcome(false, "a disruption budget"));
    }
}
