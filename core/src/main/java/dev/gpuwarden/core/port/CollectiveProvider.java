package dev.gpuwarden.core.port;

/** A factory of collective drivers. */
public interface CollectiveProvider extends Provider<CollectiveDriver, CollectiveOptions> {}
