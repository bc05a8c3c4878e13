package dev.gpuwarden.aggregator.drain;

import dev.gpuwarden.aggregator.cluster.Mirror;
import java.util.Map;

/** Passes on what it is told, and knows whether that was all once. Thread-safe. */
final class ToldAll implements Mirror.Listener {

    private final Mirror.Listener told;
    private final Runnable then;
    private volatile boolean complete;

    /** @param then run whenever all has been told */
    ToldAll(Mirror.Listener told, Runnable then) {
        this.told = told;
        this.then = then;
    }

    boolean isComplete() {
        return complete;
    }

    @Override
    public void there(String name, Map<String, Object> tree) {
        told.there(name, tree);
    }

    @Override
    public void gone(String name) {
        told.gone(name);
    }

    @Override
    public void complete() {
        told.complete();
        complete = true;
        then.run();
    }
}
