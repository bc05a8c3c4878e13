package dev.gpuwarden.daemon.store;

import dev.gpuwarden.core.event.EventWriter.Position;
import dev.gpuwarden.core.event.EventWriter.Receipt;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.FaultTable;
import dev.gpuwarden.core.event.FaultTable.Effect;
import dev.gpuwarden.daemon.store.PreparedEvent.Fingerprint;
import dev.gpuwarden.daemon.store.WriteRequest.AppendRequest;
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

/**
 * A bounded queue of requests that the disk has not taken yet, with the faults that include them. Used by the
 * writer's thread only.
 */
final class PendingBuffer {

    static final int MOST_EVENTS = 10_000;
    static final long MOST_BYTES = 16 << 20;

    private final Deque<AppendRequest> units = new ArrayDeque<>();
    /** Fingerprints of all held events, since senders repeat events that are not acknowledged. */
    private final Set<Fingerprint> tellings = new HashSet<>();

    private final Map<Fingerprint, Place> subjects = new HashMap<>();
    private FaultTable faults = new FaultTable();
    private int events;
    private int merged;
    private long bytes;

    /** The place of a held event with which repetitions are counted. */
    private record Place(AppendRequest unit, int index) {}

    /** Adds the events of a request if there is room for all of them. Known events need no room. */
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
                // A request may have a position and no events.
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

    /** Returns true if the event repeats a held event and no event between them contradicts it. */
    private boolean repeats(PreparedEvent event) {
        return subjects.containsKey(event.subject())
                && faults.preview(event.event()).effect() == Effect.REPEATED;
    }

    /** Adds a position without an event to the last request: all that was read before it is in this or earlier ones. */
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

    /** Returns the oldest requests, which are written together. */
    List<AppendRequest> first(int most) {
        return new ArrayList<>(units.stream().limit(most).toList());
    }

    /** Removes requests after their commit. */
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

    /** Returns the stored faults with the changes of the held events. */
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
