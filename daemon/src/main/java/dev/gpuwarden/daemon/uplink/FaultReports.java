package dev.gpuwarden.daemon.uplink;

import dev.gpuwarden.api.UplinkCodec;
import dev.gpuwarden.api.v1.NodeReport;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.FaultKey;
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
 * All faults, told as one generation, and whether they must be told again. Events tell what changes after the telling; what
 * they cannot tell is a fault whose event the disk does not take, and what events did that were dropped for want of room.
 */
final class FaultReports {

    private final UplinkNode node;
    private final LongSupplier lastSequence;
    private long generation;
    private boolean acknowledged;
    private Iterator<NodeReport> pages = Collections.emptyIterator();
    private Set<FaultKey> held = Set.of();
    private long dropped;
    private long asOf;
    /** Faults that were told ahead of their events, by the events' numbers. */
    private final Map<FaultKey, Long> ahead = new HashMap<>();

    private final Deque<Fault> toTellAhead = new ArrayDeque<>();

    /** @param lastSequence of the last event whose effect is surely in the book's faults */
    FaultReports(UplinkNode node, LongSupplier lastSequence) {
        this.node = node;
        this.lastSequence = lastSequence;
    }

    void begin() {
        generation = Math.max(generation + 1, node.clock().millis());
        acknowledged = false;
        dropped = node.outbox().lag(Uplink.NAME).dropped();
        // In this order: faults that are younger than the number are told twice, older ones would be told never.
        asOf = lastSequence.getAsLong();
        List<Fault> faults = node.book().faults();
        held = held(faults);
        ahead.clear();
        toTellAhead.clear();
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
     * Queues each fatal fault once, unless the pages or an event that was sent hold it.
     *
     * @param sent number of the last event that was sent
     * @return false if more than {@link UplinkCodec#MOST_AHEAD} would be ahead of their events; then all faults must be told
     */
    boolean lookAhead(long sent) {
        long known = Math.max(asOf, sent);
        ahead.values().removeIf(sequence -> sequence <= known);
        for (Fault fault : node.book().faults()) {
            boolean younger = fault.sequence() > known && fault.cause().fatal();
            if (younger && !Long.valueOf(fault.sequence()).equals(ahead.get(fault.key()))) {
                if (ahead.size() >= UplinkCodec.MOST_AHEAD) {
                    return false;
                }
                ahead.put(fault.key(), fault.sequence());
                toTellAhead.add(fault);
            }
        }
        return true;
    }

    /** The next of those that {@link #lookAhead} has found. */
    Optional<NodeReport> ahead() {
        return Optional.ofNullable(toTellAhead.poll()).map(UplinkCodec::ahead);
    }

    private static Set<FaultKey> held(List<Fault> faults) {
        return faults.stream()
                .filter(fault -> fault.sequence() == 0)
                .map(Fault::key)
                .collect(Collectors.toSet());
    }
}
