package dev.gpuwarden.daemon.metrics;

import picocli.CommandLine.Option;

/** The series that are exported on request only. */
public final class MetricsOptions {

    @Option(
            names = "--metrics.processes",
            description = "Also export memory per process: a series for each process that ever held a GPU.")
    boolean processes;

    @Option(
            names = "--metrics.dcgm-names",
            description =
                    "Export readings a second time under the names of dcgm-exporter, so that dashboards made for it"
                            + " keep working. Includes --metrics.profiling.")
    boolean dcgmNames;

    @Option(
            names = "--metrics.profiling",
            description = "Read the activity of each GPU's parts (SMs, tensor cores, memory, PCIe, NVLink), where board"
                    + " and driver support it: Hopper and later.")
    boolean profiling;

    @Option(
            names = "--metrics.unsupported",
            description =
                    "Export a series for each reading that board or driver do not support, instead of counting them.")
    boolean unsupported;

    @Option(
            names = "--metrics.autopilot",
            description =
                    "Also export autopilot_health_checks, so that dashboards and alerts made for IBM Autopilot keep"
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

    /** Returns whether profiling readings are requested from the driver. */
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
