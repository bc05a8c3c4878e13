package dev.gpuwarden.daemon.metrics;

import dev.gpuwarden.core.model.Reading;

/**
 * What this process itself takes from the node.
 *
 * @param scrapes expositions made before this one
 * @param lastScrapeSeconds how long the one before took to make
 */
public record ProcessStats(
        Reading<Double> cpuSeconds,
        Reading<Double> startTimeSeconds,
        Reading<Long> residentBytes,
        Reading<Long> virtualBytes,
        Reading<Long> threads,
        Reading<Long> openFiles,
        Reading<Long> maxFiles,
        long heapUsedBytes,
        long heapCommittedBytes,
        long heapMaxBytes,
        long scrapes,
        Reading<Double> lastScrapeSeconds) {}
