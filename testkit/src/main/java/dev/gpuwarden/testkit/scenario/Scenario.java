package dev.gpuwarden.testkit.scenario;

import java.time.Duration;
import java.util.List;

/**
 * The description of a simulated node.
 *
 * @param name of the built-in scenario, or of the file without its extension; seed of UUIDs and serial numbers
 * @param changes applied once, when the node starts, after GPUs and processes are in place
 * @param logs true when those changes write the lines of real hardware to the kernel log
 * @param timeline in order of time
 */
public record Scenario(
        String name,
        String description,
        Generation driver,
        List<Setting> node,
        List<SimGpu> gpus,
        List<SimProcess> processes,
        List<Fault> faults,
        List<PciDevice> pci,
        List<Nic> nics,
        List<Change> changes,
        boolean logs,
        List<Step> timeline) {

    /** Returns the same node with another driver. */
    public Scenario withDriver(Generation other) {
        return new Scenario(
                name, description, other, node, gpus, processes, faults, pci, nics, changes, logs, timeline);
    }

    /**
     * Changes that happen together.
     *
     * @param logs true when they write the lines of real hardware to the kernel log
     */
    public record Step(Duration at, List<Change> changes, boolean logs) {}
}
