package dev.gpuwarden.aggregator.client;

import java.util.Map;

/** Passes on what it is told, and knows whether that was all once. Thread-safe. */
public final class ToldAll implements ResourceInformer.Listener {

    private final ResourceInformer.Listener told;
    private final Runnable then;
    private volatile boolean complete;

    /** @param then run whenever all has been told */
    public ToldAll(ResourceInformer.Listener told, Runnable then) {
        this.told = told;
        this.then = then;
    }

    public boolean isComplete() {
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
