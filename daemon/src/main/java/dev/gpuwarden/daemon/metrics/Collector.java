package dev.gpuwarden.daemon.metrics;

/** Turns one part of a scrape into series. Pure: reads the scrape, writes the families. */
public interface Collector {

    /** Lower-case words, for the label that says where collecting failed. */
    String name();

    void collect(Scrape scrape, Families out);
}
