package dev.gpuwarden.daemon.check;

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
 * Makes events of what checks say, once for each fault that comes or goes. What the event book has is the truth: it is compared
 * with before each round, so that a restart repeats nothing, a fault that somebody set healthy is raised again if it is still
 * there, and what found no room is told again. Owned by one thread.
 */
public final class CheckEventEmitter {

    private static final System.Logger LOG = System.getLogger(CheckEventEmitter.class.getName());

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

    /** Clears the faults of checks that the user switched off: nobody would lift them any more. */
    public void begin(Clock clock) {
        Set<String> told = new HashSet<>();
        book.faults().stream()
                .filter(this::own)
                .forEach(fault -> told.add(fault.key().checkName()));
        List<HealthEvent> events = off.stream()
                .filter(check -> told.contains(check.eventName()))
                .map(check -> HealthEvent.of(FindingEvents.AGENT, check.componentClass(), check.eventName())
                        .healthy(true)
                        .message("the check " + check.id() + " is switched off; its faults are no longer told")
                        .generated(clock.instant())
                        .nodeName(nodeName)
                        .build())
                .toList();
        if (!events.isEmpty()) {
            intake.accept(events, Optional.empty());
            events.forEach(event -> LOG.log(Level.WARNING, event.message()));
        }
    }

    /** Takes the results of a round. Blocks until what follows from them is stored. */
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
            // The store says for itself when it is full; the next round tells the fault again.
            if (receipts.get(i) != EventWriter.Receipt.REFUSED) {
                log(changes.get(i), events.get(i));
            }
        }
    }

    /** What is between sound and faulty since the last round. For any thread. */
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
        for (Fault fault : book.faults()) {
            CheckInfo check = byEventName.get(fault.key().checkName());
            if (check != null && own(fault)) {
                HealthEvent cause = fault.cause();
                Meaning meaning = new Meaning(fault.key().errorCode(), cause.fatal(), cause.action());
                String label = cause.metadata().getOrDefault(FindingEvents.SUBJECT, "");
                booked.put(new Damper.Told(check.id(), new Subject(label, cause.entities()), meaning), check);
            }
        }
        Set<Key> there = new HashSet<>();
        booked.keySet().forEach(told -> there.add(Key.of(told)));
        Set<Key> known = new HashSet<>();
        for (Damper.Told told : damper.told()) {
            known.add(Key.of(told));
            if (!there.contains(Key.of(told))) {
                damper.forget(told);
            }
        }
        booked.forEach((told, check) -> {
            if (!known.contains(Key.of(told))) {
                damper.restore(check, told.subject(), told.meaning());
            }
        });
    }

    /** What makes two tellings of a fault the same. */
    private record Key(String check, Entity part, String code) {
        static Key of(Damper.Told told) {
            List<Entity> names = told.subject().entities();
            return new Key(
                    told.check(),
                    names.isEmpty() ? Entity.WHOLE : names.get(0),
                    told.meaning().code());
        }
    }

    private boolean own(Fault fault) {
        return fault.key().agent().equals(FindingEvents.AGENT)
                && fault.key().nodeName().equals(nodeName);
    }
}
