package dev.gpuwarden.aggregator.provider;

import dev.gpuwarden.aggregator.client.ApiException;

/** A program of the cluster's operator that reboots and terminates machines. Thread-safe. */
public interface NodeProvider {

    /** The answer to a request. */
    sealed interface Answer {

        /** @param requestId the provider's own identity of the request; empty without one */
        record Accepted(String requestId) implements Answer {}

        /** The provider has answered that it requested nothing. */
        record Refused(String why) implements Answer {}

        /** No answer arrived, so the request may have been carried out. */
        record Unknown(String why) implements Answer {}
    }

    /** A connection to the provider. */
    interface Connection extends AutoCloseable {

        /**
         * Requests the reboot of a node. Blocks for the answer, 30 s at most.
         *
         * @param resource name of the RebootNode
         */
        Answer reboot(String node, String resource) throws InterruptedException;

        /** Requests the end of a node's machine. Blocks for the answer, 30 s at most. */
        Answer terminate(String node) throws InterruptedException;

        @Override
        void close();
    }

    /**
     * Connects. Blocks for the handshake. Nothing has been requested before.
     *
     * @throws ApiException if the provider cannot be reached; a later try may succeed
     */
    Connection connect() throws ApiException, InterruptedException;

    /** Returns the provider of a cluster without one. */
    static NodeProvider none() {
        return () -> {
            throw new IllegalStateException("expected a provider, found none");
        };
    }
}
