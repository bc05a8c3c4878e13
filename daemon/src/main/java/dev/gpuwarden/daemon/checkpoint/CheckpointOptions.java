package dev.gpuwarden.daemon.checkpoint;

import dev.gpuwarden.checks.process.PodProcesses;
import dev.gpuwarden.cli.Switch;
import dev.gpuwarden.core.port.ProcessSignals;
import java.nio.file.Path;
import java.util.function.Supplier;
import picocli.CommandLine.Option;

/** The option that permits the aggregator to send signals to pods before their end. */
public final class CheckpointOptions {

    @Option(
            names = "--checkpoint.signal",
            defaultValue = "off",
            paramLabel = "WHETHER",
            description = "Send the processes of a pod the signal that spec.signals of the node's NodeHealth asks for:"
                    + " ${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
    Switch signal = Switch.off;

    /** The /proc of this program's own PID namespace, in which signals are sent, whatever --path.* options are set. */
    private static final Path PROC = Path.of("/proc");

    public PodSignals signals(Supplier<ProcessSignals> signals) {
        return new PodSignals(signal.isOn(), new PodProcesses(PROC), signals);
    }
}
