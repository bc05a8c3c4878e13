package dev.gpuwarden.core.limit;

import java.util.HashMap;
import java.util.Map;

/** The open requests of clients, of which each may have only so many. Thread-safe. */
public final class OpenRequests {

    private final int most;
    private final Map<String, Integer> openByClient = new HashMap<>();

    /** @param most open requests of a client */
    public OpenRequests(int most) {
        this.most = most;
    }

    /** Counts a request, and returns true; returns false without counting it if the client has the most already. */
    public synchronized boolean begin(String client) {
        int before = openByClient.getOrDefault(client, 0);
        if (before < most) {
            openByClient.put(client, before + 1);
        }
        return before < most;
    }

    /** Ends a request that was counted. */
    public synchronized void end(String client) {
        openByClient.computeIfPresent(client, (name, count) -> count == 1 ? null : count - 1);
    }
}
