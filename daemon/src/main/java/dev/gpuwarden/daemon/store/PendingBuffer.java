package dev.gpuwarden.daemon.store;

import dev.gpuwarden.core.event.EventWriter.Position;
import dev.gpuwarden.core.event.EventWriter.Receipt;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.FaultTable;
import dev.gpuwarden.core.event.FaultTable.Effect;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** What the disk did not take yet, in order and bounded, and the faults as they are with it. For the writer's thread. */
final class PendingBuffer {

    static final int MOST_EVENTS = 10_000;
    static final long MOST_BYTES = 16 << 20;

    private final Deque<AppendRequest> units = new ArrayDeque<>();
    /** Of everything that is held: senders that get no acknowledgement send again and again. */
    private final Set<Fingerprint> tellings = new HashSet<>();

    private final Map<Fingerprint, Place> subjects = new HashMap<>();
    private FaultTable faults = new FaultTable();
    private int events;
    private int merged;
    private long bytes;

    /** Where an event is held that a repetition can be counted with. */
    private record Place(AppendRequest unit, int index) {}

    /** Keeps what it has room for: all of it or, but for what is known already, nothing. */
    List<Receipt> add(AppendRequest unit, List<Fault> stored, Instant now) {
        if (units.isEmpty()) {
            faults = new FaultTable();
            stored.forEach(faults::restore);
        }
        if (!hasRoom(unit)) {
            return unit.events().stream()
                    .map(event -> tellings.contains(event.telling()) ? Receipt.HELD : Receipt.REFUSED)
                    .toList();
        }
        List<Receipt> receipts = Collections.nCopies(unit.events().size(), Receipt.HELD);
        List<PreparedEvent> all = List.copyOf(unit.events());
        unit.events().clear();
        for (PreparedEvent event : all) {
            if (!tellings.contains(event.telling())) {
                keep(event, unit, now);
            }
        }
        if (!unit.events().isEmpty()) {
            units.add(unit);
            events += unit.events().size();
            bytes += unit.bytes();
        } else {
            unit.position().ifPresent(position -> moveOn(position, unit));
        }
        return receipts;
    }

    private boolean hasRoom(AppendRequest unit) {
        int more = 0;
        long moreBytes = 0;
        for (PreparedEvent event : unit.events()) {
            if (!tellings.contains(event.telling()) && !repeats(event)) {
                more++;
                moreBytes += event.bytes();
            }
        }
        return events + more <= MOST_EVENTS
                && bytes + moreBytes <= MOST_BYTES
                // A source may tell nothing but where it is.
                && (units.size() < MOST_EVENTS || more == 0 && unit.position().isEmpty());
    }

    private void keep(PreparedEvent event, AppendRequest unit, Instant now) {
        Place place = repeats(event) ? subjects.get(event.subject()) : null;
        faults.apply(event.event(), 0, now);
        if (place == null) {
            subjects.put(event.subject(), new Place(unit, unit.events().size()));
            unit.events().add(event);
            tellings.add(event.telling());
        } else {
            PreparedEvent before = place.unit.events().get(place.index);
            place.unit.events().set(place.index, before.withMore(event.times()));
            if (merged < MOST_EVENTS) {
                merged++;
                place.unit.merged().add(event.telling());
                tellings.add(event.telling());
            }
        }
    }

    /** Whether it only says again what a held event says, and nothing that came between them spoke against it. */
    private boolean repeats(PreparedEvent event) {
        return subjects.containsKey(event.subject())
                && faults.preview(event.event()).effect() == Effect.REPEATED;
    }

    /**
     * Notes a position without an event of its own: with the last unit, since everything that was read before it is in that
     * unit or in earlier ones.
     */
    private void moveOn(Position position, AppendRequest unit) {
        AppendRequest last = units.peekLast();
        Optional<Position> before = last == null ? Optional.empty() : last.position();
        if (last != null
                && before.map(p -> p.source().equals(position.source())).orElse(true)) {
            last.moveOn(position);
        } else {
            units.add(unit);
        }
    }

    boolean isEmpty() {
        return units.isEmpty();
    }

    /** The oldest, to be written together. */
    List<AppendRequest> first(int most) {
        return new ArrayList<>(units.stream().limit(most).toList());
    }

    /** They are written. */
    void remove(List<AppendRequest> written) {
        for (AppendRequest unit : written) {
            units.remove(unit);
            events -= unit.events().size();
            bytes -= unit.bytes();
            unit.events().forEach(event -> tellings.remove(event.telling()));
            unit.merged().forEach(tellings::remove);
            merged -= unit.merged().size();
        }
        subjects.values().removeIf(place -> written.contains(place.unit));
        if (units.isEmpty()) {
            tellings.clear();
            subjects.clear();
            faults = new FaultTable();
        }
    }

    /** The stored faults and what held events made of them. */
    List<Fault> faults() {
        return faults.faults();
    }

    int events() {
        return events;
    }

    long bytes() {
        return bytes;
    }
}
