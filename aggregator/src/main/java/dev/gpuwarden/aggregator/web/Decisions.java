package dev.gpuwarden.aggregator.web;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The last decisions of this replica. They are in the audit log too, which forgets none. Thread-safe. */
public final class Decisions {

    private static final int MOST = 200;

    private final Deque<Map<String, Object>> last = new ArrayDeque<>();

    /** @param audit as the log has it */
    public void add(Map<String, Object> audit) {
        Map<String, Object> shown = new LinkedHashMap<>(audit);
        // For machines.
        shown.remove("patch");
        synchronized (last) {
            last.addFirst(shown);
            if (last.size() > MOST) {
                last.removeLast();
            }
        }
    }

    /** The youngest first. */
    public List<Map<String, Object>> last() {
        synchronized (last) {
            return List.copyOf(last);
        }
    }
}
