package dev.gpuwarden.aggregator.part;

import dev.gpuwarden.cli.web.HttpHandler;
import java.util.List;

/**
 * A feature of the aggregator: its options, its rights, its work and its metrics in one place. It is picocli's mixin of its options,
 * and a row of `app.Parts`. The main thread calls the methods once each, in this order, except those that state otherwise. A part
 * may use the parts before it in the list.
 */
public interface Part {

    /** Reads the options. Throws {@link dev.gpuwarden.cli.UserError} for invalid ones. */
    default void configure() {}

    /** Returns what these options need of the cluster, as the rights beyond those of a dry run. */
    default List<? extends Need> needs() {
        return List.of();
    }

    /** Creates its objects, and connects them with those of the parts before it. Does not wait for the cluster. */
    default void start(Replica replica) {}

    /** Begins its work, after all parts have started. Does not wait for the cluster. */
    default void run(Replica replica) {}

    /** Returns its pages. Called if pages are on. */
    default List<HttpHandler> pages(Replica replica) {
        return List.of();
    }

    /** Returns a line about its mode for the log; empty without one. */
    default String mode() {
        return "";
    }

    /** Adds the values of its metrics. Called by the thread of each scrape; must not block. */
    default void addMetrics(MetricFamilies all) {}
}
