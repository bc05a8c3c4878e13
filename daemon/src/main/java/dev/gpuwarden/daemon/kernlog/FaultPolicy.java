package dev.gpuwarden.daemon.kernlog;

import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.FaultKey;
import dev.gpuwarden.core.event.HealthEvent;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** What follows from the faults that are current for what is told next. Pure. */
final class FaultPolicy {

    private FaultPolicy() {}

    /** Faults of the log that ask for no action, as those of applications. */
    private static boolean passes(Fault fault) {
        return fault.key().agent().equals(Checks.AGENT)
                && !fault.cause().fatal()
                // Another program may speak under the same name; it lifts its own.
                && fault.cause().metadata().containsKey(KernelMessageClassifier.SEVERITY);
    }

    /** When the next fault has been quiet for long enough. */
    static Optional<Instant> nextLift(List<Fault> current, Duration quiet) {
        return current.stream()
                .filter(FaultPolicy::passes)
                .map(fault -> fault.lastSeen().plus(quiet))
                .min(Instant::compareTo);
    }

    /**
     * Lifts what has been quiet for long enough.
     *
     * @param news events that go out now too: what they tell of is not quiet
     */
    static List<HealthEvent> lifts(List<Fault> current, List<HealthEvent> news, Duration quiet, Instant now) {
        Map<List<Object>, Fault> lifted = new LinkedHashMap<>();
        for (Fault fault : current) {
            boolean due = passes(fault) && !fault.lastSeen().plus(quiet).isAfter(now);
            if (due
                    && news.stream().noneMatch(event -> event.keys().contains(fault.key()))
                    && !widens(fault, current)) {
                FaultKey key = fault.key();
                lifted.putIfAbsent(
                        List.of(
                                key.componentClass(),
                                key.checkName(),
                                key.nodeName(),
                                fault.cause().entities(),
                                key.errorCode()),
                        fault);
            }
        }
        List<HealthEvent> events = new ArrayList<>();
        lifted.values().forEach(fault -> events.add(lift(fault, quiet, now)));
        return events;
    }

    /** An event without entities would lift the same code of every part. */
    private static boolean widens(Fault fault, List<Fault> current) {
        return fault.key().entity().equals(Entity.WHOLE)
                && current.stream()
                        .anyMatch(other -> other != fault
                                && other.key().sameCheck(fault.key())
                                && other.key().errorCode().equals(fault.key().errorCode()));
    }

    private static HealthEvent lift(Fault fault, Duration quiet, Instant now) {
        FaultKey key = fault.key();
        return HealthEvent.of(key.agent(), key.componentClass(), key.checkName())
                .nodeName(key.nodeName())
                .healthy(true)
                .errorCodes(List.of(key.errorCode()))
                .entities(fault.cause().entities())
                .message("not seen again for " + quiet.toSeconds() + " s")
                .generated(now)
                .build();
    }

    /**
     * A fault that asks for an action is not made less by a later line of the same code that would ask for none, as where a rule
     * wants three of them within an hour and the fourth comes a day later. What ends it is a reset, a boot or a person.
     */
    static List<HealthEvent> neverLess(List<HealthEvent> events, List<Fault> current) {
        Map<FaultKey, HealthEvent> worst = new HashMap<>();
        for (Fault fault : current) {
            if (fault.cause().fatal()) {
                worst.put(fault.key(), fault.cause());
            }
        }
        List<HealthEvent> kept = new ArrayList<>(events.size());
        for (HealthEvent event : events) {
            HealthEvent now = event;
            if (event.healthy()) {
                worst.values().removeIf(cause -> clears(event, cause));
            } else if (event.fatal()) {
                event.keys().forEach(key -> worst.put(key, event));
            } else {
                now = event.keys().stream()
                        .map(worst::get)
                        .filter(java.util.Objects::nonNull)
                        .findFirst()
                        .map(cause -> as(event, cause))
                        .orElse(event);
            }
            kept.add(now);
        }
        return kept;
    }

    private static boolean clears(HealthEvent healthy, HealthEvent cause) {
        return healthy.checkName().equals(cause.checkName())
                && healthy.componentClass().equals(cause.componentClass())
                && (healthy.errorCodes().isEmpty()
                        || healthy.errorCodes().stream().anyMatch(cause.errorCodes()::contains))
                && (healthy.entities().isEmpty() || healthy.entities().stream().anyMatch(cause.entities()::contains));
    }

    private static HealthEvent as(HealthEvent event, HealthEvent cause) {
        return HealthEvent.of(event.agent(), event.componentClass(), event.checkName())
                .id(event.id())
                .fatal(true)
                .message(event.message())
                .action(cause.action())
                .customAction(cause.customAction())
                .errorCodes(event.errorCodes())
                .entities(event.entities())
                .metadata(event.metadata())
                .generated(event.generated())
                .nodeName(event.nodeName())
                .build();
    }
}
