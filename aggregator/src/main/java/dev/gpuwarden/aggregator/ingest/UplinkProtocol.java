package dev.gpuwarden.aggregator.ingest;

import dev.gpuwarden.aggregator.ingest.AuthInterceptor.Caller;
import dev.gpuwarden.aggregator.ingest.UplinkStep.Ahead;
import dev.gpuwarden.aggregator.ingest.UplinkStep.Alive;
import dev.gpuwarden.aggregator.ingest.UplinkStep.AllFaults;
import dev.gpuwarden.aggregator.ingest.UplinkStep.Ended;
import dev.gpuwarden.aggregator.ingest.UplinkStep.Greeted;
import dev.gpuwarden.aggregator.ingest.UplinkStep.Happened;
import dev.gpuwarden.aggregator.ingest.UplinkStep.Named;
import dev.gpuwarden.aggregator.ingest.UplinkStep.Reason;
import dev.gpuwarden.aggregator.ingest.UplinkStep.Received;
import dev.gpuwarden.aggregator.ingest.UplinkStep.Refused;
import dev.gpuwarden.api.EventRules;
import dev.gpuwarden.api.FaultCodec;
import dev.gpuwarden.api.GpuNamesCodec;
import dev.gpuwarden.api.UplinkCodec;
import dev.gpuwarden.api.VramCodec;
import dev.gpuwarden.api.v1.FaultPage;
import dev.gpuwarden.api.v1.GpuNames;
import dev.gpuwarden.api.v1.Hello;
import dev.gpuwarden.api.v1.NodeReport;
import dev.gpuwarden.api.v1.NodeReport.ReportCase;
import dev.gpuwarden.api.v1.StoredEvent;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.FaultKey;
import dev.gpuwarden.core.event.FaultTable;
import dev.gpuwarden.core.event.HealthEvent.EventLimits;
import io.grpc.Status;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The state of one stream of uplink.proto from the first message to the last: the meaning of each message, and the order in
 * which they are allowed. Pure but for its own state. Not thread-safe. After {@link Ended} it must not be called.
 */
final class UplinkProtocol {

    private static final int LONGEST_TEXT = 64;

    private final Caller caller;
    private final Map<ReportCase, NodeMessageKind> kinds;
    private final List<Fault> pages = new ArrayList<>();
    private String node = "";
    private boolean complete;
    private boolean listing;
    private long generation;
    private long asOf;
    private long sequence;
    private int characters;
    /** Numbers of the events of faults that came ahead of them. */
    private final Map<FaultKey, Long> ahead = new HashMap<>();

    /** @param kinds the kinds of messages beside faults and events */
    UplinkProtocol(Caller caller, Map<ReportCase, NodeMessageKind> kinds) {
        this.caller = caller;
        this.kinds = kinds;
    }

    UplinkStep receive(NodeReport report) {
        if (node.isEmpty() != report.hasHello()) {
            return order(report.getReportCase() + (node.isEmpty() ? " before" : " after") + " Hello");
        }
        return switch (report.getReportCase()) {
            case HELLO -> hello(report.getHello());
            case FAULTS -> page(report.getFaults());
            case EVENT -> event(report.getEvent());
            case AHEAD -> ahead(report.getAhead());
            case GPU_NAMES -> names(report.getGpuNames());
            case HEARTBEAT -> new Alive();
            default -> other(report);
        };
    }

    private UplinkStep hello(Hello hello) {
        if (!caller.speaksFor(hello.getNodeName())) {
            return otherNode("Hello.node_name is not the caller's own (" + caller.proof() + ")");
        }
        if (!EventRules.NODE_NAME.matcher(hello.getNodeName()).matches()) {
            return limit("Hello.node_name: expected the name of a Node");
        }
        if (hello.getProtocolVersion() != UplinkCodec.PROTOCOL_VERSION) {
            return end(
                    Reason.PROTOCOL,
                    Status.INVALID_ARGUMENT,
                    "Hello.protocol_version: expected " + UplinkCodec.PROTOCOL_VERSION + ", seen "
                            + hello.getProtocolVersion());
        }
        if (!shortText(hello.getBootId()) || !shortText(hello.getVersion())) {
            return limit("Hello: expected boot_id and version of at most " + LONGEST_TEXT + " ASCII characters");
        }
        if (!hello.getVramResource().isEmpty() && !VramCodec.isResource(hello.getVramResource())) {
            return limit("Hello.vram_resource: expected the name of an extended resource");
        }
        if (hello.getAcknowledgedSequence() < 0 || hello.getDroppedEvents() < 0) {
            return limit("Hello: expected numbers from 0 on");
        }
        node = hello.getNodeName();
        return new Greeted(hello);
    }

    private static boolean shortText(String text) {
        return text.length() <= LONGEST_TEXT && text.chars().allMatch(c -> c > ' ' && c <= '~');
    }

    // ---- faults ----

    private UplinkStep page(FaultPage page) {
        boolean goesOn = listing && page.getGeneration() == generation;
        if (!goesOn && page.getGeneration() <= generation) {
            return order("FaultPage of generation " + page.getGeneration() + " after " + generation);
        }
        if (page.getAsOfSequence() < 0 || goesOn && page.getAsOfSequence() != asOf) {
            return order("FaultPage.as_of_sequence " + page.getAsOfSequence() + " in generation " + generation);
        }
        if (!goesOn) {
            begin(page);
        }
        if (page.getFaultsCount() > UplinkCodec.PAGE_FAULTS) {
            return limit("FaultPage.faults: " + page.getFaultsCount() + ", at most " + UplinkCodec.PAGE_FAULTS);
        }
        for (dev.gpuwarden.api.v1.Fault wire : page.getFaultsList()) {
            Optional<UplinkStep> wrong = add(wire);
            if (wrong.isPresent()) {
                return wrong.get();
            }
        }
        if (!page.getLast()) {
            return new Alive();
        }
        listing = false;
        complete = true;
        AllFaults all = new AllFaults(generation, List.copyOf(pages));
        pages.clear();
        return all;
    }

    private void begin(FaultPage page) {
        listing = true;
        generation = page.getGeneration();
        asOf = page.getAsOfSequence();
        pages.clear();
        characters = 0;
    }

    private Optional<UplinkStep> add(dev.gpuwarden.api.v1.Fault wire) {
        UplinkStep read = fault(wire);
        if (!(read instanceof Ahead one)) {
            return Optional.of(read);
        }
        Fault fault = one.fault();
        pages.add(fault);
        characters += fault.cause().characters();
        boolean fits = pages.size() <= FaultTable.MOST_FAULTS && characters <= FaultTable.MOST_CHARACTERS;
        return fits
                ? Optional.empty()
                : Optional.of(limit("faults of one generation: at most " + FaultTable.MOST_FAULTS + " with "
                        + FaultTable.MOST_CHARACTERS + " characters"));
    }

    /** Returns the fault, or the end of the stream if it is invalid. */
    private UplinkStep fault(dev.gpuwarden.api.v1.Fault wire) {
        if (!wire.getKey().getNodeName().equals(node)
                || !wire.getCause().getNodeName().equals(node)) {
            return otherNode("a fault of a node that is not '" + node + "'");
        }
        Fault fault;
        try {
            fault = FaultCodec.fromWire(wire);
        } catch (DateTimeException e) {
            return limit("a fault's time: " + e.getMessage());
        }
        Optional<String> tooBig = EventLimits.violation(fault.cause());
        if (tooBig.isPresent()) {
            return limit("a fault's cause: " + tooBig.get());
        }
        if (!fault.cause().keys().contains(fault.key()) || fault.sequence() < 0 || fault.occurrences() < 0) {
            return limit("a fault: expected a key of its cause and numbers from 0 on");
        }
        return new Ahead(fault);
    }

    private UplinkStep ahead(dev.gpuwarden.api.v1.Fault wire) {
        if (!complete || listing) {
            return order("a fault ahead of its event while generation " + generation + " is not complete");
        }
        UplinkStep read = fault(wire);
        if (!(read instanceof Ahead one)) {
            return read;
        }
        Fault fault = one.fault();
        if (!fault.cause().fatal()) {
            return limit("a fault ahead of its event: expected a fatal one");
        }
        long known = Math.max(sequence, asOf);
        if (fault.sequence() <= known) {
            return new Alive();
        }
        ahead.put(fault.key(), fault.sequence());
        if (ahead.size() > UplinkCodec.MOST_AHEAD) {
            ahead.values().removeIf(came -> came <= known);
        }
        return ahead.size() > UplinkCodec.MOST_AHEAD
                ? limit("faults ahead of their events: at most " + UplinkCodec.MOST_AHEAD)
                : read;
    }

    // ---- events ----

    private UplinkStep event(StoredEvent wire) {
        if (!complete || listing) {
            return order("an event while generation " + generation + " is not complete");
        }
        if (wire.getSequence() <= sequence) {
            return order("event " + wire.getSequence() + " after " + sequence);
        }
        sequence = wire.getSequence();
        if (!wire.getEvent().getNodeName().equals(node)) {
            return new Refused(sequence, Reason.OTHER_NODE, "it is of a node that is not '" + node + "'");
        }
        dev.gpuwarden.core.event.StoredEvent stored;
        try {
            stored = FaultCodec.fromWire(wire);
        } catch (DateTimeException e) {
            return new Refused(sequence, Reason.LIMIT, "a time: " + e.getMessage());
        }
        Optional<String> tooBig = EventLimits.violation(stored.event());
        if (tooBig.isPresent()) {
            return new Refused(sequence, Reason.LIMIT, tooBig.get());
        }
        Instant seen = stored.received();
        return new Happened(sequence, stored.event(), seen, sequence <= asOf);
    }

    // ---- names ----

    private static UplinkStep names(GpuNames names) {
        return GpuNamesCodec.fromWire(names)
                .<UplinkStep>map(Named::new)
                .orElseGet(() -> limit("GpuNames: expected at most " + GpuNamesCodec.MOST
                        + " GPUs with an index from 0 on, a PCI address or none, a UUID of at most 96 visible ASCII"
                        + " characters, and at most " + GpuNamesCodec.MOST_OTHERS + " others in its reset unit"));
    }

    // ---- other messages ----

    private UplinkStep other(NodeReport report) {
        NodeMessageKind kind = kinds.get(report.getReportCase());
        if (kind == null) {
            // An unsupported part of a newer node's message still proves that the node lives.
            return new Alive();
        }
        return kind.violation(report).map(UplinkProtocol::limit).orElseGet(() -> new Received(kind, report));
    }

    // ---- ends ----

    private static UplinkStep order(String why) {
        return end(Reason.ORDER, Status.INVALID_ARGUMENT, "not in the order of uplink.proto: " + why);
    }

    private static UplinkStep limit(String why) {
        return end(Reason.LIMIT, Status.INVALID_ARGUMENT, why);
    }

    private static UplinkStep otherNode(String why) {
        return end(Reason.OTHER_NODE, Status.PERMISSION_DENIED, why);
    }

    private static UplinkStep end(Reason reason, Status status, String why) {
        return new Ended(reason, status.withDescription(why));
    }
}
