package dev.gpuwarden.api;

import dev.gpuwarden.api.v1.FaultPage;
import dev.gpuwarden.api.v1.Heartbeat;
import dev.gpuwarden.api.v1.Hello;
import dev.gpuwarden.api.v1.NodeReport;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.StoredEvent;
import java.time.Instant;
import java.util.Iterator;
import java.util.Optional;

/** What a node says to its aggregator. */
public final class UplinkCodec {

    public static final int PROTOCOL_VERSION = 1;

    /** Of faults in a page. */
    public static final int PAGE_FAULTS = 500;

    /** Of faults in a page, where more than one are in it: a quarter of what gRPC takes unless told otherwise. */
    public static final int PAGE_BYTES = 1 << 20;

    /** Of faults that are sent ahead of their events, and whose events were not sent yet. */
    public static final int MOST_AHEAD = 256;

    private UplinkCodec() {}

    /** The first words, to which the caller adds who speaks. */
    public static Hello.Builder hello(Instant now) {
        return Hello.newBuilder().setProtocolVersion(PROTOCOL_VERSION).setNow(Timestamps.toWire(now));
    }

    /** When the node said it, in its clock; empty where it says no time, or none that there is. */
    public static Optional<Instant> said(Hello hello) {
        return hello.hasNow() ? Timestamps.parse(hello.getNow()) : Optional.empty();
    }

    public static NodeReport report(Hello hello) {
        return NodeReport.newBuilder().setHello(hello).build();
    }

    public static NodeReport report(StoredEvent event) {
        return NodeReport.newBuilder().setEvent(FaultCodec.toWire(event)).build();
    }

    /** A fatal fault, ahead of its event. */
    public static NodeReport ahead(Fault fault) {
        return NodeReport.newBuilder().setAhead(FaultCodec.toWire(fault)).build();
    }

    public static NodeReport heartbeat(Instant now, long waitingEvents) {
        return NodeReport.newBuilder()
                .setHeartbeat(
                        Heartbeat.newBuilder().setNow(Timestamps.toWire(now)).setWaitingEvents(waitingEvents))
                .build();
    }

    /** All faults, page by page, each made when it is asked for. There is always one, which may be empty. */
    public static Iterator<NodeReport> pages(long generation, long asOfSequence, Iterable<Fault> faults) {
        return new Pages(generation, asOfSequence, faults.iterator());
    }

    private static final class Pages implements Iterator<NodeReport> {
        private final long generation;
        private final long asOfSequence;
        private final Iterator<Fault> rest;
        private dev.gpuwarden.api.v1.@org.jspecify.annotations.Nullable Fault next;
        private boolean ended;

        Pages(long generation, long asOfSequence, Iterator<Fault> rest) {
            this.generation = generation;
            this.asOfSequence = asOfSequence;
            this.rest = rest;
            advance();
        }

        private void advance() {
            next = rest.hasNext() ? FaultCodec.toWire(rest.next()) : null;
        }

        @Override
        public boolean hasNext() {
            return !ended;
        }

        @Override
        public NodeReport next() {
            if (ended) {
                throw new java.util.NoSuchElementException();
            }
            FaultPage.Builder page =
                    FaultPage.newBuilder().setGeneration(generation).setAsOfSequence(asOfSequence);
            int bytes = 0;
            while (next != null && page.getFaultsCount() < PAGE_FAULTS) {
                bytes += next.getSerializedSize();
                if (bytes > PAGE_BYTES && page.getFaultsCount() > 0) {
                    break;
                }
                page.addFaults(next);
                advance();
            }
            ended = next == null;
            return NodeReport.newBuilder().setFaults(page.setLast(ended)).build();
        }
    }
}
