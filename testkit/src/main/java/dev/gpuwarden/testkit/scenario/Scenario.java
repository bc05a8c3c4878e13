package dev.gpuwarden.testkit.scenario;

import java.time.Duration;
import java.util.List;

/**
 * A simulated node as its author wants it.
 *
 * @param name the built-in's name, or the file's without its ending; UUIDs and serial numbers follow from it
 * @param changes made once, when the node starts, after GPUs and processes are in place
 * @param logs whether those changes write to the kernel log what hardware would
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

    /** The same node with another driver. */
    public Scenario withDriver(Generation other) {
        return new Scenario(
                name, description, other, node, gpus, processes, faults, pci, nics, changes, logs, timeline);
    }

    /**
     * Changes that happen together.
     *
     * @param logs whether they write to the kernel log what hardware would
     */
    public record Step(Duration at, List<Change> changes, boolean logs) {}
}
