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

/** The codec of a node's reports to its aggregator. */
public final class UplinkCodec {

    public static final int PROTOCOL_VERSION = 1;

    /** Limit on faults of a page. */
    public static final int PAGE_FAULTS = 500;

    /** Limit on a page with more than one fault, in bytes: a quarter of gRPC's default limit. */
    public static final int PAGE_BYTES = 1 << 20;

    /** Limit on faults that were sent ahead of their events, while these events are not sent. */
    public static final int MOST_AHEAD = 256;

    /** Limit on requests for the holders of GPUs that wait on a stream: a newer one replaces it. */
    public static final int MOST_LOOKUPS = 1;

    /** Limit on requests for signals without an answer on a stream: more pods than leave a node at one time. */
    public static final int MOST_SIGNALS = 256;

    private UplinkCodec() {}

    /** Returns the first message, to which the caller adds its identity. */
    public static Hello.Builder hello(Instant now) {
        return Hello.newBuilder().setProtocolVersion(PROTOCOL_VERSION).setNow(Timestamps.toWire(now));
    }

    /** Returns the time of the message by the node's clock; empty where it has none, or an invalid one. */
    public static Optional<Instant> said(Hello hello) {
        return hello.hasNow() ? Timestamps.parse(hello.getNow()) : Optional.empty();
    }

    public static NodeReport report(Hello hello) {
        return NodeReport.newBuilder().setHello(hello).build();
    }

    public static NodeReport report(StoredEvent event) {
        return NodeReport.newBuilder().setEvent(FaultCodec.toWire(event)).build();
    }

    /** Returns a fatal fault, to be sent ahead of its event. */
    public static NodeReport ahead(Fault fault) {
        return NodeReport.newBuilder().setAhead(FaultCodec.toWire(fault)).build();
    }

    public static NodeReport heartbeat(Instant now, long waitingEvents) {
        return NodeReport.newBuilder()
                .setHeartbeat(
                        Heartbeat.newBuilder().setNow(Timestamps.toWire(now)).setWaitingEvents(waitingEvents))
                .build();
    }

    /** Returns all faults in pages, each made on demand. There is at least one page, which may be empty. */
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
