package dev.gpuwarden.daemon.kernlog;

import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.FaultKey;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.Proof;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The faults that a line about their end ends: those that are older than the end, and that have no better proof than the line. If
 * that leaves out a fault, the event names the codes that it ends, so that every follower of events has the same faults.
 *
 * <p>Remembers the time of the last line of each current fault. A fault that an earlier process raised has the time of its
 * storage, which is later. Not thread-safe.
 */
final class EndedFaults {

    private final Map<FaultKey, Instant> lastLines = new HashMap<>();

    /**
     * Returns the events in their order, without those that change nothing because of missing proof.
     *
     * @param events of this monitor; the same batch may come again after a failure to store it
     * @param current the current faults, of all agents
     * @param now bounds the times of lines: a log whose clock is ahead shows no later time
     */
    List<HealthEvent> narrow(List<HealthEvent> events, List<Fault> current, Instant now) {
        Map<FaultKey, HealthEvent> open = new LinkedHashMap<>();
        Map<FaultKey, Instant> stored = new HashMap<>();
        for (Fault fault : current) {
            open.put(fault.key(), fault.cause());
            stored.put(fault.key(), fault.lastSeen());
        }
        List<HealthEvent> narrowed = new ArrayList<>(events.size());
        for (HealthEvent event : events) {
            Optional<HealthEvent> kept = event.healthy() ? end(event, open, stored) : raise(event, open, now);
            kept.ifPresent(narrowed::add);
        }
        lastLines.keySet().retainAll(open.keySet());
        return narrowed;
    }

    /** Returns the event, unless a better proof of a fault is there: a line that any user may have written adds nothing to it. */
    private Optional<HealthEvent> raise(HealthEvent event, Map<FaultKey, HealthEvent> open, Instant now) {
        boolean proven = event.strategy().actedOn();
        for (FaultKey key : event.keys()) {
            HealthEvent cause = open.get(key);
            if (!proven && cause != null && cause.strategy().actedOn()) {
                return Optional.empty();
            }
        }
        Instant line = event.generated().isAfter(now) ? now : latest(event.generated());
        event.keys().forEach(key -> {
            open.put(key, event);
            lastLines.merge(key, line, (one, other) -> one.isAfter(other) ? one : other);
        });
        return Optional.of(event);
    }

    /** Returns the last moment that a stamp may stand for: those of syslog have whole seconds. */
    private static Instant latest(Instant stamp) {
        return stamp.getNano() == 0 ? stamp.plusNanos(999_999_999) : stamp;
    }

    private Optional<HealthEvent> end(
            HealthEvent event, Map<FaultKey, HealthEvent> open, Map<FaultKey, Instant> stored) {
        boolean proven = !Proof.isMissing(event);
        Optional<Instant> end = Occurrence.Checks.resetEnd(event);
        Set<String> ended = new LinkedHashSet<>();
        Set<String> left = new LinkedHashSet<>();
        open.forEach((key, cause) -> {
            if (clears(event, key, cause)) {
                Instant last = lastLines.getOrDefault(key, stored.getOrDefault(key, Instant.MAX));
                boolean older = end.isEmpty() || last.isBefore(end.get());
                boolean counts = proven || !cause.strategy().actedOn();
                (older && counts ? ended : left).add(key.errorCode());
            }
        });
        ended.removeAll(left);
        open.entrySet()
                .removeIf(fault ->
                        ended.contains(fault.getKey().errorCode()) && clears(event, fault.getKey(), fault.getValue()));
        if (proven && left.isEmpty()) {
            return Optional.of(event);
        }
        return ended.isEmpty()
                ? Optional.empty()
                : Optional.of(event.toBuilder().errorCodes(List.copyOf(ended)).build());
    }

    /** Returns whether the table of faults would clear it, which also compares the other names of a GPU. */
    private static boolean clears(HealthEvent healthy, FaultKey key, HealthEvent cause) {
        boolean named = healthy.entities().isEmpty()
                || healthy.entities().contains(key.entity())
                || key.entity().namesGpu()
                        && cause.entities().stream().filter(Entity::namesGpu).anyMatch(healthy.entities()::contains);
        return named
                && key.sameCheck(healthy.keys().get(0))
                && (healthy.errorCodes().isEmpty() || healthy.errorCodes().contains(key.errorCode()));
    }
}
