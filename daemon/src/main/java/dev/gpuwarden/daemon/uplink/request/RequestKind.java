package dev.gpuwarden.daemon.uplink.request;

import dev.gpuwarden.api.v1.Acknowledgement;
import dev.gpuwarden.api.v1.Hello;
import dev.gpuwarden.api.v1.NodeReport;
import dev.gpuwarden.api.v1.Welcome;
import dev.gpuwarden.core.util.Wakeup;
import java.util.Optional;

/**
 * A kind of request over the uplink, with its answers: {@link Responder} for those of the aggregator, {@link AggregatorRequests} for
 * those of the node. One connection at a time calls these methods, in its thread. None of them blocks.
 */
public interface RequestKind {

    /** Adds what this kind offers to the aggregator, or requests from it. */
    default void greet(Hello.Builder hello) {}

    /**
     * Begins with a connection.
     *
     * @param session wakes the thread of the connection, which then calls {@link #next}
     */
    void welcome(Welcome welcome, Wakeup session);

    /** Receives a message. Returns false if it belongs to another kind. */
    boolean received(Acknowledgement message);

    /** Returns the next message to send, and removes it. */
    Optional<NodeReport> next();

    /** Ends with the connection. Also called if there was no Welcome. */
    void end();
}
