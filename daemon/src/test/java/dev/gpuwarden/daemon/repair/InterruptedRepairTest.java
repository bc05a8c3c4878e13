package dev.gpuwarden.daemon.repair;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.FaultTable;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.node.ResetUnits;
import dev.gpuwarden.daemon.repair.RepairAttempt.End;
import dev.gpuwarden.daemon.repair.RepairAttempt.Kind;
import dev.gpuwarden.daemon.repair.RepairAttempt.Outcome;
import dev.gpuwarden.daemon.repair.RepairAttempt.Step;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

class InterruptedRepairTest {

    private static final String GPU = "GPU-5a196066-fd1b-446e-b920-f64089942995";
    private static final Instant BEGAN = Instant.parse("2026-06-01T00:01:00Z");
    private static final Duration SETTLE = Duration.ofMinutes(1);
    private static final RepairRules RULES = new RepairRules(SETTLE, 2, 4, true, Set.of());

    private final FaultTable faults = new FaultTable();
    private final List<RepairAttempt> attempts = new ArrayList<>();

    private ServerDecision decide(Instant now) {
        ServerGpus gpus = new ServerGpus(Set.of(GPU), Set.of(GPU), Set.of(), ResetUnits.UNKNOWN);
        return ServerDecision.decide(faults.faults(), attempts, RULES, gpus, now);
    }

    private void interrupted(Instant at) {
        attempts.add(new RepairAttempt(
                at.toString(),
                Kind.RESET,
                Set.of(GPU),
                "xid 48",
                at,
                "boot",
                List.of(new Step(RepairAttempt.INTERRUPTED, "", true, "", Duration.ZERO, at)),
                Optional.of(new End(at, Outcome.HELD, "the daemon ended in the middle"))));
    }

    /** An end of the daemon is no fact about the GPU. But the repair itself may have ended the daemon. */
    @Test
    void aRepairThatWasCutOffIsTriedAgainSoonAndASecondTimeAnHourLater() {
        faults.apply(
                HealthEvent.of("agent", "GPU", "xid")
                        .errorCodes(List.of("48"))
                        .fatal(true)
                        .action(RecommendedAction.COMPONENT_RESET)
                        .entities(List.of(new Entity(Entity.GPU_UUID, GPU)))
                        .build(),
                1,
                BEGAN.minus(SETTLE));
        interrupted(BEGAN);
        Instant soon = BEGAN.plus(SETTLE);
        ServerDecision waits = decide(soon.minusSeconds(1));
        assertThat(waits.action()).isEmpty();
        assertThat(waits.tasks()).isEmpty();
        assertThat(decide(soon).action().orElseThrow().kind()).isEqualTo(Kind.RESET);
        interrupted(soon);
        assertThat(decide(soon.plus(SETTLE)).action()).isEmpty();
        assertThat(decide(soon.plus(RepairRules.RETRY)).action()).isPresent();
    }
}
