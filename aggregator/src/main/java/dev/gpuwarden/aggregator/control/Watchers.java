package dev.gpuwarden.aggregator.control;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;

/** Who wants to know which node, or what is told of it, is another one now. Thread-safe. */
public final class Watchers {

    private final List<Consumer<String>> all = new CopyOnWriteArrayList<>();

    /** @param watcher told the name; must be quick */
    public void add(Consumer<String> watcher) {
        all.add(watcher);
    }

    void changed(String node) {
        all.forEach(watcher -> watcher.accept(node));
    }
}
