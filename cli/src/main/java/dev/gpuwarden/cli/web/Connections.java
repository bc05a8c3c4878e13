package dev.gpuwarden.cli.web;

import java.net.InetAddress;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;

/**
 * Who is connected. Where there are too many, the connection that has waited longest without a request ends, so that clients that
 * only connect cannot keep others out. For the event loop's thread alone.
 */
final class Connections {

    /** One client's. */
    interface Connection {
        InetAddress peer();

        /** Whether a request of it is being answered. */
        boolean busy();

        /** Closes it, and removes it from here. */
        void evict();
    }

    private final WebLimits limits;
    /** In the order in which they began to wait. */
    private final Set<Connection> open = new LinkedHashSet<>();

    private final Map<InetAddress, Integer> perPeer = new HashMap<>();

    Connections(WebLimits limits) {
        this.limits = limits;
    }

    /** False where there are too many and all of them are busy. */
    boolean admit(Connection connection) {
        InetAddress peer = connection.peer();
        boolean peerIsFull = perPeer.getOrDefault(peer, 0) >= limits.connectionsPerPeer();
        if (peerIsFull && !evictOldest(other -> other.peer().equals(peer))) {
            return false;
        }
        if (open.size() >= limits.connections() && !evictOldest(other -> true)) {
            return false;
        }
        open.add(connection);
        perPeer.merge(peer, 1, Integer::sum);
        return true;
    }

    private boolean evictOldest(Predicate<Connection> which) {
        for (Connection connection : open) {
            if (!connection.busy() && which.test(connection)) {
                connection.evict();
                return true;
            }
        }
        return false;
    }

    /** It begins to wait for its next request: all others have waited longer. */
    void waits(Connection connection) {
        if (open.remove(connection)) {
            open.add(connection);
        }
    }

    /** False where it was not admitted, or has been removed. */
    boolean remove(Connection connection) {
        boolean there = open.remove(connection);
        if (there) {
            perPeer.computeIfPresent(connection.peer(), (peer, count) -> count == 1 ? null : count - 1);
        }
        return there;
    }
}
