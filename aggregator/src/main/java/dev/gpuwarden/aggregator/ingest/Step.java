package dev.gpuwarden.aggregator.ingest;

import dev.gpuwarden.api.v1.AccessReview;
import dev.gpuwarden.api.v1.Hello;
import dev.gpuwarden.api.v1.Holdings;
import dev.gpuwarden.api.v1.Signalled;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.HealthEvent;
import io.grpc.Status;
import java.time.Instant;
import java.util.List;

/** What follows from a message of a node. */
sealed interface Step {

    /** The node has said who it is, and waits for Welcome. */
    record Greeted(Hello hello) implements Step {}

    /** These are all faults of the node. */
    record Told(long generation, List<Fault> faults) implements Step {}

    /**
     * One more event.
     *
     * @param history what it did to the faults is in them already
     */
    record Happened(long sequence, HealthEvent event, Instant seen, boolean history) implements Step {}

    /** This event will never be taken; the node may go on with the next. */
    record Refused(long sequence, Reason reason, String why) implements Step {}

    /** A fatal fault, ahead of its event. */
    record Ahead(Fault fault) implements Step {}

    /** Who holds its GPUs. */
    record Looked(Holdings holdings) implements Step {}

    /** Whether a pod has got its signal. */
    record Notified(Signalled signalled) implements Step {}

    /** Somebody would read the node's page. */
    record AccessAsked(AccessReview review) implements Step {

        /** Without the token. */
        @Override
        public String toString() {
            return "AccessAsked[" + review.getId() + "]";
        }
    }

    /** Nothing but that the node lives. */
    record Alive() implements Step {}

    /** The stream is over. */
    record Ended(Reason reason, Status status) implements Step {}

    /** Why something was not taken; names of a metric's label. */
    enum Reason {
        /** It speaks for a node that is not its own. */
        OTHER_NODE,
        /** The cluster has no such node. */
        NO_NODE,
        /** Not the place for that message. */
        ORDER,
        /** More, or longer, than is allowed. */
        LIMIT,
        /** Of a version of the contract that is not known here. */
        PROTOCOL
    }
}
