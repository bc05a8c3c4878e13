package dev.gpuwarden.daemon.kernlog;

import dev.gpuwarden.checks.verify.Verification;
import dev.gpuwarden.checks.verify.Verification.Repair;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.FaultKey;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.daemon.kernlog.Occurrence.Checks;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The consequences of the current faults for the next events: which faults to clear, and which to keep fatal. Pure. */
final class FaultPolicy {

    private FaultPolicy() {}

    /** Returns whether the fault comes from this monitor and asks for no action, as those of applications do. */
    private static boolean passing(Fault fault) {
        return fault.key().agent().equals(Checks.AGENT)
                && !fault.cause().fatal()
                // Another program may report under the same name, and clears its own faults.
                && fault.key().reporter().isEmpty()
                && fault.cause().metadata().containsKey(KernelMessageClassifier.SEVERITY);
    }

    /** Returns the time at which the next fault has been quiet for long enough; empty where no fault can be cleared. */
    static Optional<Instant> nextClear(List<Fault> current, Duration quiet) {
        return current.stream()
                .filter(FaultPolicy::passing)
                .map(fault -> fault.lastSeen().plus(quiet))
                .min(Instant::compareTo);
    }

    /**
     * Returns the events that clear faults which have been quiet for long enough.
     *
     * @param news the events of the same batch: their faults are not quiet
     */
    static List<HealthEvent> clearQuiet(List<Fault> current, List<HealthEvent> news, Duration quiet, Instant now) {
        Map<List<Object>, Fault> cleared = new LinkedHashMap<>();
        for (Fault fault : current) {
            boolean due = passing(fault) && !fault.lastSeen().plus(quiet).isAfter(now);
            if (due
                    && news.stream().noneMatch(event -> event.keys().contains(fault.key()))
                    && !clearsMore(fault, current)) {
                FaultKey key = fault.key();
                cleared.putIfAbsent(
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
        cleared.values().forEach(fault -> events.add(clear(fault, quiet, now)));
        return events;
    }

    /** Returns whether clearing it would clear other faults too: an event without entities clears the code of every part. */
    private static boolean clearsMore(Fault fault, List<Fault> current) {
        return fault.key().entity().equals(Entity.WHOLE)
                && current.stream()
                        .anyMatch(other -> other != fault
                                && other.key().sameCheck(fault.key())
                                && other.key().errorCode().equals(fault.key().errorCode()));
    }

    private static HealthEvent clear(Fault fault, Duration quiet, Instant now) {
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
     * Returns the events in their order, each as fatal as the current fault of its key. A rule may ask for three occurrences within
     * an hour; a fourth one a day later must not downgrade the fault. A reset, a boot or an operator clears it.
     */
    static List<HealthEvent> keepFatal(List<HealthEvent> events, List<Fault> current) {
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
                        // A proven warning must not become a fault that another line without proof made fatal.
                        .filter(cause ->
                                !event.strategy().actedOn() || cause.strategy().actedOn())
                        .findFirst()
                        .map(cause -> as(event, cause))
                        .orElse(event);
            }
            kept.add(now);
        }
        return kept;
    }

    /**
     * Returns the events in their order, and around those of a boot or of a GPU's reset the ones that keep its parts faulty until they
     * are verified. They end the faults of this program's checks that ask for this repair.
     */
    static List<HealthEvent> verifyRepairs(List<HealthEvent> events, List<Fault> current, Instant now) {
        List<HealthEvent> causes = new ArrayList<>();
        current.stream()
                .filter(fault -> fault.cause().fatal())
                .map(Fault::cause)
                .distinct()
                .forEach(causes::add);
        List<HealthEvent> all = new ArrayList<>();
        for (HealthEvent event : events) {
            List<HealthEvent> ended = List.of();
            if (event.healthy()) {
                ended = causes.stream().filter(cause -> clears(event, cause)).toList();
            } else if (event.fatal()) {
                causes.add(event);
            }
            Optional<Repair> repair = Checks.repair(event);
            Optional<Instant> end = Checks.resetEnd(event);
            List<HealthEvent> own = repair.isEmpty()
                    ? List.of()
                    : causes.stream()
                            .filter(cause -> Verification.ends(repair.get(), cause))
                            .filter(cause -> repair.get() == Repair.BOOT || concerns(event, cause))
                            .filter(cause ->
                                    end.isEmpty() || lastSeen(cause, current).isBefore(end.get()))
                            .toList();
            if (repair.isPresent()) {
                List<HealthEvent> verified = new ArrayList<>(own);
                if (repair.get() == Repair.BOOT) {
                    verified.addAll(ended);
                }
                all.addAll(Verification.after(repair.get(), verified, now));
            }
            all.add(event);
            own.forEach(cause -> all.add(Verification.end(cause, "repaired, and to be verified", now)));
            causes.removeAll(ended);
            causes.removeAll(own);
        }
        return all;
    }

    /** Returns when the fault was last confirmed, in this node's clock; an event of the same batch is newer than all ends. */
    private static Instant lastSeen(HealthEvent cause, List<Fault> current) {
        return current.stream()
                .filter(fault -> fault.cause().equals(cause))
                .map(Fault::lastSeen)
                .max(Instant::compareTo)
                .orElse(Instant.MAX);
    }

    private static boolean concerns(HealthEvent reset, HealthEvent cause) {
        return reset.entities().stream().anyMatch(cause.entities()::contains);
    }

    private static boolean clears(HealthEvent healthy, HealthEvent cause) {
        return healthy.agent().equals(cause.agent())
                && healthy.checkName().equals(cause.checkName())
                && healthy.componentClass().equals(cause.componentClass())
                && (healthy.errorCodes().isEmpty()
                        || healthy.errorCodes().stream().anyMatch(cause.errorCodes()::contains))
                && (healthy.entities().isEmpty() || healthy.entities().stream().anyMatch(cause.entities()::contains));
    }

    private static HealthEvent as(HealthEvent event, HealthEvent cause) {
        return event.toBuilder()
                .fatal(true)
                .action(cause.action())
                .customAction(cause.customAction())
                .build();
    }
}
