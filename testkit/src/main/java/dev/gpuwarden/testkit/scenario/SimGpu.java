package dev.gpuwarden.testkit.scenario;

import java.util.List;

/**
 * One GPU of a scenario.
 *
 * @param settings beyond the board's own, in order
 * @param partitions empty: not in MIG mode
 */
public record SimGpu(Board board, List<Setting> settings, List<MigProfile> partitions) {}
