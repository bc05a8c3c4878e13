package dev.gpuwarden.aggregator.ingest;

import dev.gpuwarden.api.v1.Hello;
import dev.gpuwarden.api.v1.NodeReport;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.node.ReportedGpus;
import io.grpc.Status;
import java.time.Instant;
import java.util.List;

/** The consequence of a node's message. */
sealed interface UplinkStep {

    /** The node has sent Hello, and waits for Welcome. */
    record Greeted(Hello hello) implements UplinkStep {}

    /** All faults of the node. */
    record AllFaults(long generation, List<Fault> faults) implements UplinkStep {}

    /** @param history true if the faults include its effect already */
    record Happened(long sequence, HealthEvent event, Instant seen, boolean history) implements UplinkStep {}

    /** An event that is refused for good; the node may go on with the next. */
    record Refused(long sequence, Reason reason, String why) implements UplinkStep {}

    /** A fatal fault, ahead of its event. */
    record Ahead(Fault fault) implements UplinkStep {}

    /** Its GPUs. */
    record Named(ReportedGpus gpus) implements UplinkStep {}

    /** A message of another kind, within its limits. */
    record Received(NodeMessageKind kind, NodeReport message) implements UplinkStep {

        /** Returns the text without the content, which may be a token. */
        @Override
        public String toString() {
            return "Received[" + message.getReportCase() + "]";
        }
    }

    /** A sign that the node lives, without other content. */
    record Alive() implements UplinkStep {}

    /** The end of the stream. */
    record Ended(Reason reason, Status status) implements UplinkStep {}

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
