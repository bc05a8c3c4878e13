package dev.gpuwarden.daemon.grpc;

import dev.gpuwarden.checks.access.GpuReleases;
import dev.gpuwarden.checks.process.CallingProcess;
import dev.gpuwarden.core.check.CheckRegistry;
import dev.gpuwarden.core.event.EventReader;
import dev.gpuwarden.core.event.EventWriter;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.process.GpuMemoryUse;
import dev.gpuwarden.daemon.vram.watch.LocalCalls;
import dev.gpuwarden.daemon.vram.watch.VramStatus;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * The parts of the daemon that the services read.
 *
 * @param node returns a snapshot without calling the driver
 * @param memory returns the owners of the memory of a snapshot's GPUs; reads /proc
 * @param vram the VRAM watchdog's state by GPU, from memory; empty where it is off
 * @param calls requests for GPU memory and notices; empty where the VRAM watchdog is off
 * @param releases requests that the daemon lets go of GPUs
 * @param notStored why the store takes no events now, for users; empty while it does; from memory
 * @param unreached the receivers that take no events of this node now, and why; from memory
 * @param recordings returns the flight recorder's recording of an event, by its id; reads the store
 * @param callers finds the processes that call; reads /proc
 */
public record NodeSources(
        Identity identity,
        Supplier<NodeSnapshot> node,
        Function<NodeSnapshot, List<GpuMemoryUse>> memory,
        Supplier<List<VramStatus>> vram,
        Supplier<Optional<LocalCalls>> calls,
        GpuReleases.Desk releases,
        EventWriter intake,
        EventReader events,
        CheckRegistry checks,
        Supplier<Optional<String>> notStored,
        Supplier<Map<String, String>> unreached,
        Function<String, Optional<byte[]>> recordings,
        CallingProcess.Lookup callers,
        Clock clock) {

    /**
     * The facts that do not change while the daemon runs.
     *
     * @param bootId empty if it cannot be read
     */
    public record Identity(String nodeName, String bootId, String version, Instant started) {}
}
