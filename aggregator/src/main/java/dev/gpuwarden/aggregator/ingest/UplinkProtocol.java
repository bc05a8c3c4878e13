package dev.gpuwarden.aggregator.ingest;

import dev.gpuwarden.aggregator.ingest.AuthInterceptor.Caller;
import dev.gpuwarden.aggregator.ingest.UplinkProtocol.Step.AccessAsked;
import dev.gpuwarden.aggregator.ingest.UplinkProtocol.Step.Ahead;
import dev.gpuwarden.aggregator.ingest.UplinkProtocol.Step.Alive;
import dev.gpuwarden.aggregator.ingest.UplinkProtocol.Step.AllFaults;
import dev.gpuwarden.aggregator.ingest.UplinkProtocol.Step.Ended;
import dev.gpuwarden.aggregator.ingest.UplinkProtocol.Step.Greeted;
import dev.gpuwarden.aggregator.ingest.UplinkProtocol.Step.Happened;
import dev.gpuwarden.aggregator.ingest.UplinkProtocol.Step.HoldingsReported;
import dev.gpuwarden.aggregator.ingest.UplinkProtocol.Step.Named;
import dev.gpuwarden.aggregator.ingest.UplinkProtocol.Step.Notified;
import dev.gpuwarden.aggregator.ingest.UplinkProtocol.Step.Reason;
import dev.gpuwarden.aggregator.ingest.UplinkProtocol.Step.Refused;
import dev.gpuwarden.aggregator.ingest.UplinkProtocol.Step.VramAsked;
import dev.gpuwarden.api.AccessCodec;
import dev.gpuwarden.api.EventRules;
import dev.gpuwarden.api.FaultCodec;
import dev.gpuwarden.api.GpuNamesCodec;
import dev.gpuwarden.api.UplinkCodec;
import dev.gpuwarden.api.VramCodec;
import dev.gpuwarden.api.v1.AccessReview;
import dev.gpuwarden.api.v1.FaultPage;
import dev.gpuwarden.api.v1.GpuNames;
import dev.gpuwarden.api.v1.Hello;
import dev.gpuwarden.api.v1.Holdings;
import dev.gpuwarden.api.v1.NodeReport;
import dev.gpuwarden.api.v1.Signalled;
import dev.gpuwarden.api.v1.StoredEvent;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.FaultKey;
import dev.gpuwarden.core.event.FaultTable;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.HealthEvent.EventLimits;
import dev.gpuwarden.core.node.PartNames;
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

    UplinkProtocol(Caller caller) {
        this.caller = caller;
    }

    Step receive(NodeReport report) {
        if (node.isEmpty() != report.hasHello()) {
            return order(report.getReportCase() + (node.isEmpty() ? " before" : " after") + " Hello");
        }
        return switch (report.getReportCase()) {
            case HELLO -> hello(report.getHello());
            case FAULTS -> page(report.getFaults());
            case EVENT -> event(report.getEvent());
            case AHEAD -> ahead(report.getAhead());
            case GPU_NAMES -> names(report.getGpuNames());
            case HOLDINGS -> new HoldingsReported(report.getHoldings());
            case SIGNALLED -> new Notified(report.getSignalled());
            case ACCESS_REVIEW -> access(report.getAccessReview());
            case ADVERTISE, EVICT -> vram(report);
            // An unsupported part of a newer node's message still proves that the node lives.
            case HEARTBEAT, REPORT_NOT_SET -> new Alive();
        };
    }

    private Step hello(Hello hello) {
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

    private Step page(FaultPage page) {
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
            Optional<Step> wrong = add(wire);
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

    private Optional<Step> add(dev.gpuwarden.api.v1.Fault wire) {
        Step read = fault(wire);
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
    private Step fault(dev.gpuwarden.api.v1.Fault wire) {
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

    private Step ahead(dev.gpuwarden.api.v1.Fault wire) {
        if (!complete || listing) {
            return order("a fault ahead of its event while generation " + generation + " is not complete");
        }
        Step read = fault(wire);
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

    private Step event(StoredEvent wire) {
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

    private static Step names(GpuNames names) {
        return GpuNamesCodec.fromWire(names)
                .<Step>map(Named::new)
                .orElseGet(() -> limit("GpuNames: expected at most " + GpuNamesCodec.MOST
                        + " GPUs with an index from 0 on, a PCI address or none, and a UUID of at most 96 visible"
                        + " ASCII characters"));
    }

    // ---- questions ----

    private static Step access(AccessReview review) {
        return AccessCodec.isGood(review)
                ? new AccessAsked(review)
                : limit("AccessReview: expected an id of at most 64 and a JSON web token of at most 8192 characters");
    }

    private static Step vram(NodeReport report) {
        return VramCodec.isGood(report)
                ? new VramAsked(report)
                : limit(report.getReportCase() + ": a field is not valid");
    }

    // ---- ends ----

    private static Step order(String why) {
        return end(Reason.ORDER, Status.INVALID_ARGUMENT, "not in the order of uplink.proto: " + why);
    }

    private static Step limit(String why) {
        return end(Reason.LIMIT, Status.INVALID_ARGUMENT, why);
    }

    private static Step otherNode(String why) {
        return end(Reason.OTHER_NODE, Status.PERMISSION_DENIED, why);
    }

    private static Step end(Reason reason, Status status, String why) {
        return new Ended(reason, status.withDescription(why));
    }

    /** The consequence of a node's message. */
    sealed interface Step {

        /** The node has sent Hello, and waits for Welcome. */
        record Greeted(Hello hello) implements Step {}

        /** All faults of the node. */
        record AllFaults(long generation, List<Fault> faults) implements Step {}

        /** @param history true if the faults include its effect already */
        record Happened(long sequence, HealthEvent event, Instant seen, boolean history) implements Step {}

        /** An event that is refused for good; the node may go on with the next. */
        record Refused(long sequence, Reason reason, String why) implements Step {}

        /** A fatal fault, ahead of its event. */
        record Ahead(Fault fault) implements Step {}

        /** The names of its GPUs. */
        record Named(PartNames names) implements Step {}

        /** The holders of its GPUs. */
        record HoldingsReported(Holdings holdings) implements Step {}

        /** The node's answer about a signal to a pod. */
        record Notified(Signalled signalled) implements Step {}

        /** A request to read the node's page. */
        record AccessAsked(AccessReview review) implements Step {

            /** Returns the text without the token. */
            @Override
            public String toString() {
                return "AccessAsked[" + review.getId() + "]";
            }
        }

        /** A value to advertise, or a request to end a pod. */
        record VramAsked(NodeReport report) implements Step {}

        /** A sign that the node lives, without other content. */
        record Alive() implements Step {}

        /** The end of the stream. */
        record Ended(Reason reason, Status status) implements Step {}

        /** The reason of a refusal; the names are those of a metric's label. */
        enum Reason {
            /** The caller reports for a node that is not its own. */
            OTHER_NODE,
            /** The cluster has no such node. */
            NO_NODE,
            /** The message is not allowed at this place. */
            ORDER,
            /** More or longer content than the limits allow. */
            LIMIT,
            /** A version of the contract that this program does not support. */
            PROTOCOL
        }
    }
}
