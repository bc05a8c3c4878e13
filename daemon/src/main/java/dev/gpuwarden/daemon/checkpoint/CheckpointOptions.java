package dev.gpuwarden.daemon.checkpoint;

import dev.gpuwarden.core.port.ProcessSignals;
import dev.gpuwarden.daemon.node.NodePaths;
import dev.gpuwarden.daemon.process.PodProcesses;
import java.util.function.Supplier;
import picocli.CommandLine.Option;

/** Whether the aggregator may have pods told that their end is near. */
public final class CheckpointOptions {

    /** Words as people write them in YAML. */
    enum Switch {
        off,
        on
    }

    @Option(
            names = "--checkpoint.signal",
            defaultValue = "off",
            paramLabel = "WHETHER",
            description = "Send the processes of a pod the signal that spec.signals of the node's NodeHealth asks for:"
                    + " ${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
    Switch signal = Switch.off;

    public PodSignals signals(NodePaths paths, Supplier<ProcessSignals> signals) {
        return new PodSignals(signal == Switch.on, new PodProcesses(paths), signals);
    }
}
