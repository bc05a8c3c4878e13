package dev.gpuwarden.daemon.metrics;

import picocli.CommandLine.Option;

/** Which series are exported beyond those that always are. */
public final class MetricsOptions {

    @Option(
            names = "--metrics.processes",
            description = "Export memory per process too: a series for each process that ever held a GPU.")
    boolean processes;

    @Option(
            names = "--metrics.dcgm-names",
            description =
                    "Export readings a second time under the names of dcgm-exporter, so that dashboards made for it"
                            + " keep working. Includes --metrics.profiling.")
    boolean dcgmNames;

    @Option(
            names = "--metrics.profiling",
            description =
                    "Read how busy the parts of each GPU are (SMs, tensor cores, memory, PCIe, NVLink), where board"
                            + " and driver can tell: Hopper and later.")
    boolean profiling;

    @Option(
            names = "--metrics.unsupported",
            description = "Name each reading that board or driver do not support, instead of counting them.")
    boolean unsupported;

    @Option(
            names = "--metrics.autopilot",
            description =
                    "Export autopilot_health_checks too, so that dashboards and alerts made for IBM Autopilot keep"
                            + " working.")
    boolean autopilot;

    /** For tests and embedding. */
    public static MetricsOptions of(boolean processes, boolean dcgmNames, boolean unsupported) {
        MetricsOptions options = new MetricsOptions();
        options.processes = processes;
        options.dcgmNames = dcgmNames;
        options.unsupported = unsupported;
        return options;
    }

    public boolean processes() {
        return processes;
    }

    public boolean dcgmNames() {
        return dcgmNames;
    }

    /** Whether the driver is asked for profiling. */
    public boolean profiling() {
        return profiling || dcgmNames;
    }

    public boolean unsupported() {
        return unsupported;
    }

    public boolean autopilot() {
        return autopilot;
    }
}
