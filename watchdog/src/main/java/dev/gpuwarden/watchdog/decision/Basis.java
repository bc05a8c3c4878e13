package dev.gpuwarden.watchdog.decision;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.util.Mib;
import dev.gpuwarden.watchdog.observation.Bytes;
import dev.gpuwarden.watchdog.observation.GpuBytes;
import dev.gpuwarden.watchdog.observation.GpuObservation;
import dev.gpuwarden.watchdog.observation.Tenant;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The tests that an observation must pass to be a basis for a decision: each value by itself, and tenants and memory
 * against each other. Not thread-safe.
 */
final class Basis {

    /**
     * The amount that tenants may claim together beyond the memory in use: as a share of the card the same as for its own parts, and on a
     * small card this much. Surfaces that two programs share count for both.
     */
    private static final long SLACK_BYTES = 256L << 20;

    private static final double SLACK_SHARE = 0.02;

    /** A tenant may allocate between the reading of the memory and the list; the next reading shows it. */
    private static final long SETTLE_NANOS = Duration.ofMillis(500).toNanos();

    private Optional<WatchdogState.Newest> newest;
    private Optional<WatchdogState.Listed> listed;

    Basis(WatchdogState state) {
        newest = state.newest();
        listed = state.listed();
    }

    /** Returns the newest observation, good or bad. */
    Optional<WatchdogState.Newest> newest() {
        return newest;
    }

    /** Returns the last list and the memory in use at its time. */
    Optional<WatchdogState.Listed> listed() {
        return listed;
    }

    /** Adds an observation, and returns why no decision can rest on it; empty if one can. */
    Optional<String> doubt(GpuObservation seen) {
        Optional<String> doubt = because(seen);
        newest = newest.filter(before -> before.sequence() >= seen.sequence())
                .or(() -> Optional.of(new WatchdogState.Newest(seen.sequence(), seen.atNanos())));
        return doubt;
    }

    private Optional<String> because(GpuObservation seen) {
        if (seen.memory() instanceof Reading.Absent<GpuBytes> none) {
            return Optional.of("the memory of the GPU is unknown: " + none.text());
        }
        GpuBytes memory = seen.memory().asOptional().orElseThrow();
        Optional<String> doubt = memory.doubt();
        if (doubt.isPresent()) {
            return doubt.map(why -> "the memory of the GPU is implausible: " + why);
        }
        if (newest.filter(before -> seen.sequence() <= before.sequence() || seen.atNanos() < before.atNanos())
                .isPresent()) {
            return Optional.of("the reading is not newer than the one before");
        }
        if (seen.tenants() instanceof Reading.Absent<List<Tenant>> none) {
            return Optional.of("the tenants are unknown: " + none.text());
        }
        List<Tenant> tenants = seen.tenants().asOptional().orElseThrow();
        Set<String> ids = new HashSet<>();
        for (Tenant tenant : tenants) {
            if (!ids.add(tenant.id())) {
                return Optional.of("two tenants have the same identity");
            }
            Optional<String> impossible = impossible(tenant, memory);
            if (impossible.isPresent()) {
                return impossible;
            }
        }
        return contradiction(seen, memory, tenants);
    }

    private static Optional<String> impossible(Tenant tenant, GpuBytes memory) {
        if (isNegative(tenant.used()) || isNegative(tenant.budget())) {
            return Optional.of("use or budget of " + tenant.name() + " is negative");
        }
        if (tenant.used() instanceof Reading.Absent<Long> none && none.cause() == Absence.IMPLAUSIBLE) {
            return Optional.of("the use of " + tenant.name() + " is implausible: " + none.text());
        }
        return tenant.used() instanceof Reading.Present<Long> used && used.value() > memory.total()
                ? Optional.of("the readings contradict each other: " + tenant.name() + " claims "
                        + Mib.text(used.value()) + " of a card that has " + Mib.text(memory.total()))
                : Optional.empty();
    }

    private static boolean isNegative(Reading<Long> bytes) {
        return bytes instanceof Reading.Present<Long> present && present.value() < 0;
    }

    /** Compares a list with the most memory that was in use at its time, since both are not read at the same time. */
    private Optional<String> contradiction(GpuObservation seen, GpuBytes memory, List<Tenant> tenants) {
        long at = seen.tenantsAtNanos();
        Optional<WatchdogState.Listed> before = listed.filter(last -> last.atNanos() == at);
        boolean settles = seen.atNanos() - at <= SETTLE_NANOS;
        long used = Math.max(
                before.map(WatchdogState.Listed::usedBytes).orElse(0L),
                before.isEmpty() || settles ? memory.clientBytes() : 0);
        listed = Optional.of(new WatchdogState.Listed(at, used));
        long claimed = claimed(tenants);
        long slack = Math.max(SLACK_BYTES, (long) (memory.total() * SLACK_SHARE));
        return claimed - used <= slack
                ? Optional.empty()
                : Optional.of("the readings contradict each other: the tenants claim " + Mib.text(claimed) + ", and "
                        + Mib.text(used) + " were in use");
    }

    /** Returns what the tenants claim together beyond the memory that is in use now; 0 where they do not. */
    static long overclaimed(GpuBytes memory, List<Tenant> tenants) {
        return Math.max(0, claimed(tenants) - memory.clientBytes());
    }

    /** Returns the sum of the known uses. */
    static long claimed(List<Tenant> tenants) {
        long sum = 0;
        for (Tenant tenant : tenants) {
            sum = tenant.used() instanceof Reading.Present<Long> used ? Bytes.plus(sum, used.value()) : sum;
        }
        return sum;
    }
}
