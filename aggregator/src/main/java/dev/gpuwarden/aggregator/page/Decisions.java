package dev.gpuwarden.aggregator.page;

import dev.gpuwarden.aggregator.quarantine.Audit;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** The last decisions of this replica. They are in the audit log too, which forgets none. Thread-safe. */
public final class Decisions implements Consumer<Audit> {

    private static final int MOST = 200;

    private final Consumer<Audit> log;
    private final Deque<Map<String, Object>> last = new ArrayDeque<>();

    /** @param log told first: what cannot be recorded is not done */
    public Decisions(Consumer<Audit> log) {
        this.log = log;
    }

    @Override
    public void accept(Audit audit) {
        log.accept(audit);
        Map<String, Object> tree = audit.toTree();
        tree.remove("patch");
        synchronized (last) {
            last.addFirst(tree);
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
