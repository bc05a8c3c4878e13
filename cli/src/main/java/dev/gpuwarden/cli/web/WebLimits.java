package dev.gpuwarden.cli.web;

/**
 * Limits of one server. A request over a limit gets 503 with Retry-After; over the limit of connections, the one that
 * has waited longest is closed.
 *
 * @param connections from all clients
 * @param connectionsPerPeer from one address
 * @param bodyBytes memory of answers that are being written; an array that several clients receive counts once
 */
public record WebLimits(int connections, int connectionsPerPeer, long bodyBytes) {

    /** Limits for the kubelet's probes: one connection each, answered in milliseconds. */
    static final WebLimits PROBES = new WebLimits(128, 32, 1 << 16);

    /** Limits for metrics and pages: at most an eighth of a daemon's heap. */
    public static final WebLimits PAGES = new WebLimits(256, 64, 6 << 20);
}
