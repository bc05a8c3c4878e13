package dev.gpuwarden.daemon.grpc;

import dev.gpuwarden.core.check.CheckRegistry;
import dev.gpuwarden.core.event.EventReader;
import dev.gpuwarden.core.event.EventWriter;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.process.GpuMemoryUse;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * The parts of the daemon that the services speak for.
 *
 * @param node asks no driver
 * @param memory whose memory the GPUs of a snapshot hold; reads /proc
 * @param storing whether the store takes events now; from memory
 * @param unreached who takes nothing of this node now, and why; from memory
 * @param recordings what the flight recorder kept with an event, by its id; reads the store
 */
public record NodeSources(
        Identity identity,
        Supplier<NodeSnapshot> node,
        Function<NodeSnapshot, List<GpuMemoryUse>> memory,
        EventWriter intake,
        EventReader events,
        CheckRegistry checks,
        BooleanSupplier storing,
        Supplier<Map<String, String>> unreached,
        Function<String, Optional<byte[]>> recordings,
        Clock clock) {

    /**
     * What does not change while the daemon runs.
     *
     * @param bootId empty where it cannot be read
     */
    public record Identity(String nodeName, String bootId, String version, Instant started) {}
}
