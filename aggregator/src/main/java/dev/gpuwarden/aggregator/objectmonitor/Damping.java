package dev.gpuwarden.aggregator.objectmonitor;

import dev.gpuwarden.aggregator.client.JsonTrees;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;

/**
 * How long an object must give the same answer before that answer replaces what is reported of it. Pure.
 *
 * @param raise the time for which it must match before its fault is raised; zero: at once
 * @param clear the time for which it must be healthy before its fault clears; zero: at once
 */
record Damping(Duration raise, Duration clear) {

    static final String RAISE = "minMatchSeconds";
    static final String CLEAR = "minHealthySeconds";

    /** An operator that rewrites a status is done with that by then: five minutes is the usual resync of controllers. */
    static final Duration CLEAR_OTHERS = Duration.ofMinutes(5);

    static final Duration LONGEST = Duration.ofDays(1);

    /** @param spec of the policy; where it gives no time, Pods clear at once, since {@link RecoveryRule} watches over them */
    static Damping of(Map<String, Object> spec, ResourceType type) {
        return new Damping(
                seconds(spec, RAISE, Duration.ZERO), seconds(spec, CLEAR, type.isPod() ? Duration.ZERO : CLEAR_OTHERS));
    }

    private static Duration seconds(Map<String, Object> spec, String field, Duration absent) {
        if (!spec.containsKey(field)) {
            return absent;
        }
        long seconds = spec.get(field) instanceof Number ? JsonTrees.longNumber(spec, field) : -1;
        if (seconds < 0 || seconds > LONGEST.toSeconds()) {
            throw new IllegalArgumentException(
                    "spec." + field + ": expected 0 to " + LONGEST.toSeconds() + ", found " + spec.get(field));
        }
        return Duration.ofSeconds(seconds);
    }

    /** When an object that has matched since then is reported. */
    Instant raises(Instant since) {
        return since.plus(raise);
    }

    /**
     * When the fault of an object clears that has not matched since then.
     *
     * @param well when the object itself shows that it has recovered; empty where it does not
     */
    Optional<Instant> clears(Instant since, Optional<Instant> well) {
        Instant steady = since.plus(clear);
        return well.map(at -> at.isAfter(steady) ? at : steady);
    }
}
