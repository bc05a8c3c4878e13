package dev.gpuwarden.checks;

import dev.gpuwarden.core.check.CheckInfo;
import dev.gpuwarden.core.check.CheckResult;
import dev.gpuwarden.core.check.Damper;
import dev.gpuwarden.core.check.Damping;
import dev.gpuwarden.core.check.FaultChange;
import dev.gpuwarden.core.check.FaultChange.Kind;
import dev.gpuwarden.core.check.FaultChange.Meaning;
import dev.gpuwarden.core.check.FindingEvents;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.EventReader;
import dev.gpuwarden.core.event.EventWriter;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.health.Subject;
import java.lang.System.Logger.Level;
import java.time.Clock;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * An emitter that turns check results into events, one for each fault that is raised or cleared. The stored faults are
 * the truth, and are compared before each round. So a restart repeats nothing. A fault that was set healthy by hand is
 * raised again if it persists, and a fault that found no room is sent again. Owned by one thread.
 */
public final class CheckEventEmitter {

    private static final System.Logger LOG = CheckLog.LOG;

    private final Damper damper = new Damper();
    private volatile List<Damping> damping = List.of();
    private final Map<String, CheckInfo> byEventName = new HashMap<>();
    private final List<CheckInfo> off;
    private final EventWriter intake;
    private final EventReader book;
    private final String nodeName;

    public CheckEventEmitter(CheckPlan plan, EventWriter intake, EventReader book, String nodeName) {
        plan.planned().forEach(planned -> byEventName.put(planned.info().eventName(), planned.info()));
        this.off = plan.off();
        this.intake = intake;
        this.book = book;
        this.nodeName = nodeName;
    }

    /** Clears the faults of checks that are switched off, because no run of theirs can clear them any more. */
    public void begin(Clock clock) {
        Set<String> current = new HashSet<>();
        book.faults().stream()
                .filter(this::own)
                .forEach(fault -> current.add(fault.key().checkName()));
        List<HealthEvent> events = off.stream()
                .filter(check -> current.contains(check.eventName()))
                .map(check -> HealthEvent.of(FindingEvents.AGENT, check.componentClass(), check.eventName())
                        .healthy(true)
                        .message("the check " + check.id() + " is switched off; its faults are no longer reported")
                        .generated(clock.instant())
                        .nodeName(nodeName)
                        .build())
                .toList();
        if (!events.isEmpty()) {
            intake.accept(events, Optional.empty());
            events.forEach(event -> LOG.log(Level.WARNING, event.message()));
        }
    }

    /** Accepts the results of a round. Blocks until the resulting events are stored. */
    public void accept(List<CheckResult> results) {
        compareWithBook();
        List<FaultChange> changes = new ArrayList<>();
        results.forEach(result -> changes.addAll(damper.look(result)));
        damping = List.copyOf(damper.damping());
        if (changes.isEmpty()) {
            return;
        }
        List<HealthEvent> events = changes.stream()
                .map(change -> FindingEvents.of(change, nodeName))
                .toList();
        List<EventWriter.Receipt> receipts = intake.accept(events, Optional.empty());
        for (int i = 0; i < changes.size(); i++) {
            // The store logs by itself that it is full; the next round sends the fault again.
            if (receipts.get(i) != EventWriter.Receipt.REFUSED) {
                log(changes.get(i), events.get(i));
            }
        }
    }

    /** Returns the findings that damping holds since the last round: not yet raised, or not yet cleared. Thread-safe. */
    public List<Damping> damping() {
        return damping;
    }

    private static void log(FaultChange change, HealthEvent event) {
        String what = switch (change.kind()) {
            case RAISED -> "fault ";
            case CHANGED -> "fault changed: ";
            case HELD -> "fault held: ";
            case LIFTED -> "fault over: ";
        };
        Level level = change.kind() == Kind.LIFTED ? Level.INFO : Level.WARNING;
        LOG.log(level, what + change.check().id() + " " + change.meaning().code() + ": " + event.message());
    }

    private void compareWithBook() {
        Map<Damper.Told, CheckInfo> booked = new HashMap<>();
        Set<Damper.Told> held = new HashSet<>();
        for (Fault fault : book.faults()) {
            CheckInfo check = byEventName.get(fault.key().checkName());
            if (check != null && own(fault)) {
                HealthEvent cause = fault.cause();
                Meaning meaning = new Meaning(fault.key().errorCode(), cause.fatal(), cause.action());
                String label = cause.metadata().getOrDefault(FindingEvents.SUBJECT, "");
                Damper.Told told = new Damper.Told(check.id(), new Subject(label, cause.entities()), meaning);
                booked.put(told, check);
                if (cause.isHeld()) {
                    held.add(told);
                }
            }
        }
        Set<Key> there = new HashSet<>();
        booked.keySet().forEach(current -> there.add(Key.of(current)));
        Set<Key> known = new HashSet<>();
        for (Damper.Told current : damper.told()) {
            known.add(Key.of(current));
            if (!there.contains(Key.of(current))) {
                damper.forget(current);
            }
        }
        booked.forEach((current, check) -> {
            if (!known.contains(Key.of(current))) {
                damper.restore(check, current.subject(), current.meaning(), held.contains(current));
            }
        });
    }

    /** The identity of a fault: check, part and code. */
    private record Key(String check, Entity part, String code) {
        static Key of(Damper.Told current) {
            List<Entity> names = current.subject().entities();
            return new Key(
                    current.check(),
                    names.isEmpty() ? Entity.WHOLE : names.get(0),
                    current.meaning().code());
        }
    }

    private boolean own(Fault fault) {
        return fault.key().agent().equals(FindingEvents.AGENT)
                && fault.key().nodeName().equals(nodeName);
    }
}
