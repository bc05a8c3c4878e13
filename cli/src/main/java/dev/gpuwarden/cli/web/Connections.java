package dev.gpuwarden.cli.web;

import java.net.InetAddress;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;

/**
 * The open connections. At the limit, the connection that has waited longest without a request is closed, so that idle
 * clients cannot keep others out. For the event loop's thread alone.
 */
final class Connections {

    /** The connection of one client. */
    interface Connection {
        InetAddress peer();

        /** Returns whether a request is being answered. */
        boolean busy();

        /** Closes the connection and removes it from the list. */
        void evict();
    }

    private final WebLimits limits;
    /** Open connections, the longest idle first. */
    private final Set<Connection> open = new LinkedHashSet<>();

    private final Map<InetAddress, Integer> perPeer = new HashMap<>();

    Connections(WebLimits limits) {
        this.limits = limits;
    }

    /**
     * Adds a connection.
     *
     * @return false where the limit is reached and all connections are busy
     */
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

    /** Moves a connection to the end of the list: it begins to wait for its next request. */
    void waits(Connection connection) {
        if (open.remove(connection)) {
            open.add(connection);
        }
    }

    /**
     * Removes a connection.
     *
     * @return false where it was not admitted, or was removed before
     */
    boolean remove(Connection connection) {
        boolean there = open.remove(connection);
        if (there) {
            perPeer.computeIfPresent(connection.peer(), (peer, count) -> count == 1 ? null : count - 1);
        }
        return there;
    }
}
