package dev.gpuwarden.daemon.checkpoint;

import dev.gpuwarden.core.port.ProcessSignals;
import dev.gpuwarden.daemon.process.PodProcesses;
import java.nio.file.Path;
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

    /** Signals go by the numbers of this program's own namespace, whatever tells of the node's processes otherwise. */
    private static final Path PROC = Path.of("/proc");

    public PodSignals signals(Supplier<ProcessSignals> signals) {
        return new PodSignals(signal == Switch.on, new PodProcesses(PROC), signals);
    }
}
