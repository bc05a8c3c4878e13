package dev.gpuwarden.core.event;

import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The table of current faults, which events raise and clear. The same events in the same order give the same table,
 * so a store can be replayed into it. Not thread-safe.
 *
 * <p>A healthy event clears faults of its own agent, component class, check and node: those of the entities that it
 * names, or all if it names none; with the codes that it names, or with any. Naming a GPU by one of its names also
 * clears the faults under the other names in the raising event. Faults of another kind of {@link Reporter} stay, unless
 * the event is an administrator's.
 *
 * <p>The table is bounded, and {@link Room} shares it. Faults that find no room are left out of the change that their
 * event makes; {@link MissedFaults} finds them in the history when there is room.
 */
public final class FaultTable {

    /** Far beyond the faults of one node: eight GPUs with every NVLink broken in three ways are 432. */
    public static final int MOST_FAULTS = 2048;

    /** Characters of all causes together, so that long messages are bounded too; a cause counts for each of its faults. */
    public static final int MOST_CHARACTERS = 4 << 20;

    private final Map<FaultKey, Fault> current = new LinkedHashMap<>();
    private final Room faultRoom = new Room(MOST_FAULTS);
    private final Room textRoom = new Room(MOST_CHARACTERS);

    /** The effect of an event on the table. */
    public enum Effect {
        /** At least one fault is new. */
        RAISED,
        /** The faults were current, but fatality, action, strategy or overrides have changed. */
        CHANGED,
        /** Nothing changed: the faults were current, or the event was healthy and no fault was current. */
        REPEATED,
        /** At least one fault was cleared. */
        CLEARED
    }

    /**
     * The change that one event makes.
     *
     * @param keys the faults that were raised, changed, seen again or cleared
     */
    public record Change(Effect effect, Set<FaultKey> keys) {}

    /** Returns the current faults, oldest first. */
    public List<Fault> faults() {
        return List.copyOf(current.values());
    }

    public int size() {
        return current.size();
    }

    public Optional<Fault> fault(FaultKey key) {
        return Optional.ofNullable(current.get(key));
    }

    /** Adds a fault from the store, unchanged. */
    public void restore(Fault fault) {
        put(fault);
    }

    /** Returns the change that the event would make, without making it. */
    public Change preview(HealthEvent event) {
        if (!event.healthy()) {
            return raises(event);
        }
        Set<FaultKey> cleared = clears(event);
        return new Change(cleared.isEmpty() ? Effect.REPEATED : Effect.CLEARED, cleared);
    }

    /**
     * Applies an event.
     *
     * @param sequence the event's number in the store
     * @param seen when it was seen, in this node's clock
     */
    public Change apply(HealthEvent event, long sequence, Instant seen) {
        Change change = preview(event);
        if (event.healthy()) {
            change.keys().forEach(this::remove);
            return change;
        }
        long times = StoredEvent.occurrencesOf(event);
        for (FaultKey key : change.keys()) {
            Fault before = current.get(key);
            if (before == null) {
                put(new Fault(key, event, sequence, seen, seen, times));
            } else {
                boolean same = sameMeaning(before.cause(), event);
                put(new Fault(
                        key,
                        same ? before.cause() : event,
                        same ? before.sequence() : sequence,
                        before.since(),
                        seen,
                        before.occurrences() + times));
            }
        }
        return change;
    }

    private void put(Fault fault) {
        Fault before = current.put(fault.key(), fault);
        if (before != null) {
            take(before, -1);
        }
        take(fault, 1);
    }

    private void remove(FaultKey key) {
        Fault gone = current.remove(key);
        if (gone != null) {
            take(gone, -1);
        }
    }

    private void take(Fault fault, int sign) {
        HealthEvent cause = fault.cause();
        String share = Reporter.shareOf(fault.key().agent(), fault.key().reporter());
        faultRoom.take(share, cause.fatal(), sign);
        textRoom.take(share, cause.fatal(), sign * cause.characters());
    }

    private Change raises(HealthEvent event) {
        Effect effect = Effect.REPEATED;
        Set<FaultKey> keys = new LinkedHashSet<>();
        String share = Reporter.shareOf(event);
        int faults = faultRoom.left(share, event.fatal());
        int characters = textRoom.left(share, event.fatal());
        for (FaultKey key : event.keys()) {
            Fault before = current.get(key);
            if (before != null && sameMeaning(before.cause(), event)) {
                keys.add(key);
                continue;
            }
            // A fault that is no longer fatal needs room in the share of others, where it has taken none yet.
            boolean another = before == null || before.cause().fatal() && !event.fatal();
            int more = event.characters();
            if (before != null && !another) {
                more -= before.cause().characters();
            }
            if (another && faults <= 0 || more > 0 && more > characters) {
                continue;
            }
            keys.add(key);
            faults -= another ? 1 : 0;
            characters -= more;
            effect = before == null ? Effect.RAISED : effect == Effect.RAISED ? effect : Effect.CHANGED;
        }
        return new Change(effect, keys);
    }

    static boolean sameMeaning(HealthEvent before, HealthEvent now) {
        return before.fatal() == now.fatal()
                && before.action() == now.action()
                && before.customAction().equals(now.customAction())
                && before.strategy().actedOn() == now.strategy().actedOn()
                && before.quarantine().equals(now.quarantine())
                && before.drain().equals(now.drain())
                && before.isHeld() == now.isHeld();
    }

    private Set<FaultKey> clears(HealthEvent event) {
        Set<FaultKey> cleared = new LinkedHashSet<>();
        FaultKey check = event.keys().get(0);
        for (Fault fault : current.values()) {
            if (concerns(event, check, fault) && Reporter.mayEnd(event, fault.key())) {
                cleared.add(fault.key());
            }
        }
        return cleared;
    }

    /**
     * Returns the faults that a healthy event names and may not clear, because another kind of reporter raised them. Empty
     * if it clears at least one.
     */
    public static List<Fault> withheld(List<Fault> current, HealthEvent healthy) {
        FaultKey check = healthy.keys().get(0);
        List<Fault> named = current.stream()
                .filter(fault -> concerns(healthy, check, fault))
                .toList();
        return named.stream().anyMatch(fault -> Reporter.mayEnd(healthy, fault.key())) ? List.of() : named;
    }

    private static boolean concerns(HealthEvent healthy, FaultKey check, Fault fault) {
        return fault.key().sameCheck(check)
                && (healthy.errorCodes().isEmpty()
                        || healthy.errorCodes().contains(fault.key().errorCode()))
                && (healthy.entities().isEmpty() || names(healthy, fault));
    }

    private static boolean names(HealthEvent event, Fault fault) {
        Entity entity = fault.key().entity();
        if (event.entities().contains(entity)) {
            return true;
        }
        return entity.namesGpu()
                && fault.cause().entities().stream()
                        .anyMatch(other -> other.namesGpu() && event.entities().contains(other));
    }
}
