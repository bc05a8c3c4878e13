package dev.gpuwarden.daemon.metrics;

import dev.gpuwarden.cli.Version;
import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.node.NodeSnapshot.DriverState;
import dev.gpuwarden.core.port.DriverInfo;
import dev.gpuwarden.core.port.Opening;
import io.prometheus.metrics.model.snapshots.Labels;
import java.util.List;
import java.util.Locale;

/** The driver as a whole, the number of GPUs on bus and driver, and the version of this program. */
final class NodeCollector {

    private static final String SILENT = "silent";

    private final Labels build = Labels.of(
            "version", Version.program(), "java_version", Runtime.version().toString());

    void collect(Collector.Scrape scrape, Family.Series out) {
        NodeSnapshot node = scrape.node();
        out.add("gpuwarden_build", build, 1);
        out.add("gpuwarden_gpus", node.gpus().size());
        if (node.pciGpus() instanceof Reading.Present<List<PciAddress>> pci) {
            out.add("gpuwarden_pci_gpus", pci.value().size());
        }
        DriverState driver = node.driver();
        out.add("gpuwarden_driver_up", driver instanceof DriverState.Running ? 1 : 0);
        out.add("gpuwarden_driver_opening", driver instanceof DriverState.Opening ? 1 : 0);
        if (driver instanceof DriverState.Running running) {
            out.add("gpuwarden_driver", labels(running.info()), 1);
        } else if (driver instanceof DriverState.Silent silent) {
            out.add("gpuwarden_driver", labels(silent.info()), 1);
        }
        for (Opening.Reason reason : Opening.Reason.values()) {
            boolean is = driver instanceof DriverState.Unavailable none && none.reason() == reason;
            out.add(
                    "gpuwarden_driver_unavailable",
                    Labels.of("reason", reason.name().toLowerCase(Locale.ROOT)),
                    is ? 1 : 0);
        }
        out.add(
                "gpuwarden_driver_unavailable",
                Labels.of("reason", SILENT),
                driver instanceof DriverState.Silent ? 1 : 0);
    }

    private static Labels labels(DriverInfo info) {
        return Labels.of(
                "provider", info.name(),
                "library_path", GpuCollector.text(info.libraryPath()),
                "library_version", GpuCollector.text(info.libraryVersion()),
                "driver_version", GpuCollector.text(info.driverVersion()),
                "cuda_version", GpuCollector.text(info.cudaVersion()),
                "sampler_path", info.samplerPath());
    }
}
