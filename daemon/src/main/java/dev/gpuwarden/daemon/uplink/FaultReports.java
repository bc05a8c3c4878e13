package dev.gpuwarden.daemon.uplink;

import dev.gpuwarden.api.UplinkCodec;
import dev.gpuwarden.api.v1.NodeReport;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.FaultKey;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;

/**
 * The reports of all faults as one generation, and the decision to send them again. Events report changes after a
 * generation. They cannot report a fault whose event the disk does not take, or changes by events that were dropped
 * for lack of room.
 */
final class FaultReports {

    private final UplinkNode node;
    private final LongSupplier lastSequence;
    private long generation;
    private boolean acknowledged;
    private Iterator<NodeReport> pages = Collections.emptyIterator();
    private Set<Fault> held = Set.of();
    private long dropped;
    private long asOf;
    /** Faults that were reported ahead of their events, with the events' numbers. */
    private final Map<FaultKey, Long> ahead = new HashMap<>();

    private final Deque<Fault> queued = new ArrayDeque<>();

    /** @param lastSequence returns the last event whose effect is certainly among the current faults */
    FaultReports(UplinkNode node, LongSupplier lastSequence) {
        this.node = node;
        this.lastSequence = lastSequence;
    }

    void begin() {
        generation = Math.max(generation + 1, node.clock().millis());
        acknowledged = false;
        dropped = node.outbox().lag(Uplink.NAME).dropped();
        // In this order: a fault newer than the number is reported twice; in the other order it would never be
        // reported.
        asOf = lastSequence.getAsLong();
        List<Fault> faults = node.book().faults();
        held = held(faults);
        ahead.clear();
        queued.clear();
        pages = UplinkCodec.pages(generation, asOf, faults);
    }

    Iterator<NodeReport> pages() {
        return pages;
    }

    void acknowledged(long which) {
        acknowledged |= which == generation && !pages.hasNext();
    }

    boolean done() {
        return acknowledged;
    }

    boolean outdated() {
        return node.outbox().lag(Uplink.NAME).dropped() != dropped
                || !held.equals(held(node.book().faults()));
    }

    /**
     * Queues each fatal fault once, unless the pages or a sent event include it.
     *
     * @param sent the number of the last sent event
     * @return false if more than {@link UplinkCodec#MOST_AHEAD} would be ahead of their events; then all faults must
     *     be sent again
     */
    boolean queueFatal(long sent) {
        long known = Math.max(asOf, sent);
        ahead.values().removeIf(sequence -> sequence <= known);
        for (Fault fault : node.book().faults()) {
            boolean younger = fault.sequence() > known && fault.cause().fatal();
            if (younger && !Long.valueOf(fault.sequence()).equals(ahead.get(fault.key()))) {
                if (ahead.size() >= UplinkCodec.MOST_AHEAD) {
                    return false;
                }
                ahead.put(fault.key(), fault.sequence());
                queued.add(fault);
            }
        }
        return true;
    }

    /** Returns the next fault that {@link #queueFatal} has queued, and removes it. */
    Optional<NodeReport> ahead() {
        return Optional.ofNullable(queued.poll()).map(UplinkCodec::ahead);
    }

    /**
     * Returns what no event reports: all faults while events are only held, since those may also end faults and change them. Without times and
     * counts, which change all the time.
     */
    private Set<Fault> held(List<Fault> faults) {
        boolean all = node.book().holding();
        return faults.stream()
                .filter(fault -> all || fault.sequence() == 0)
                .map(fault -> new Fault(fault.key(), fault.cause(), fault.sequence(), Instant.EPOCH, Instant.EPOCH, 0))
                .collect(Collectors.toSet());
    }
}
