package dev.gpuwarden.cli.web;

/**
 * What one server bears at a time. What is over it gets 503 with Retry-After, or loses its connection where it waits the longest.
 *
 * @param connections of all clients
 * @param connectionsPerPeer of one address
 * @param bodyBytes of answers that are being written; an array that several clients get counts once
 */
public record WebLimits(int connections, int connectionsPerPeer, long bodyBytes) {

    /** For the kubelet's questions: a connection each, answered in milliseconds. */
    static final WebLimits PROBES = new WebLimits(128, 32, 1 << 16);

    /** For metrics and pages: an eighth of a daemon's heap at most. */
    public static final WebLimits PAGES = new WebLimits(256, 64, 6 << 20);
}
