package dev.gpuwarden.daemon.grpc;

import io.grpc.Attributes;
import io.grpc.Context;

/** The peer of a connection. */
sealed interface Peer {

    /** Set once per connection. */
    Attributes.Key<Peer> OF_CONNECTION = Attributes.Key.create("gpuwarden-peer");

    /** Set while a call is served. */
    Context.Key<Peer> OF_CALL = Context.key("gpuwarden-peer");

    /**
     * A process of this node, identified by the kernel (SO_PEERCRED, unix(7)).
     *
     * @param connectedAtNanos time of its connection by {@link System#nanoTime}
     */
    record Process(int pid, int uid, int gid, long connectedAtNanos) implements Peer {
        @Override
        public String toString() {
            return "uid " + uid + ", pid " + pid;
        }
    }

    /** A client with a verified certificate. */
    record Certified(String subject) implements Peer {
        @Override
        public String toString() {
            return "certificate " + subject;
        }
    }

    /** A client without proof of identity. */
    record Anonymous() implements Peer {
        @Override
        public String toString() {
            return "a client without a certificate";
        }
    }

    /** Returns the peer of the call that is being served. */
    static Peer current() {
        Peer peer = OF_CALL.get();
        return peer == null ? new Anonymous() : peer;
    }
}
