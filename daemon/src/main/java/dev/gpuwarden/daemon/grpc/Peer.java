package dev.gpuwarden.daemon.grpc;

import io.grpc.Attributes;
import io.grpc.Context;

/** Who is at the other end of a connection. */
sealed interface Peer {

    /** Set once per connection. */
    Attributes.Key<Peer> OF_CONNECTION = Attributes.Key.create("gpuwarden-peer");

    /** While a call is served. */
    Context.Key<Peer> OF_CALL = Context.key("gpuwarden-peer");

    /** A process of this node, as the kernel vouches for it (SO_PEERCRED, unix(7)). */
    record Process(int pid, int uid, int gid) implements Peer {
        @Override
        public String toString() {
            return "uid " + uid + ", pid " + pid;
        }
    }

    /** Somebody who has proved who he is. */
    record Certified(String subject) implements Peer {
        @Override
        public String toString() {
            return "certificate " + subject;
        }
    }

    /** Anybody. */
    record Anonymous() implements Peer {
        @Override
        public String toString() {
            return "a client without a certificate";
        }
    }

    /** Who made the call that is served. */
    static Peer current() {
        Peer peer = OF_CALL.get();
        return peer == null ? new Anonymous() : peer;
    }
}
