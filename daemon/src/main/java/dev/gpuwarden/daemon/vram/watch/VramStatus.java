package dev.gpuwarden.daemon.vram.watch;

import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.watchdog.decision.Decision;
import dev.gpuwarden.watchdog.decision.Verdict;
import java.time.Instant;
import java.util.Map;

/**
 * The watchdog's state for one GPU, for metrics, page and commands.
 *
 * @param decision the last one, with the observation, the pressure and the tenants that it is made of
 * @param decidedAt time of the last decision
 * @param lastGoodAt time of the last decision that was not {@link Verdict#BLIND}; {@link Instant#EPOCH} if there was none
 * @param decisions number of decisions with each verdict since the start
 * @param recycles number of decided recycles by outcome since the start: {@code dry_run}, {@code accepted}, {@code failed},
 *     {@code no_longer_needed}
 */
public record VramStatus(
        GpuIdentity gpu,
        Decision decision,
        Instant decidedAt,
        Instant lastGoodAt,
        Map<Verdict, Long> decisions,
        Map<String, Long> recycles) {

    public VramStatus {
        decisions = Map.copyOf(decisions);
        recycles = Map.copyOf(recycles);
    }
}
