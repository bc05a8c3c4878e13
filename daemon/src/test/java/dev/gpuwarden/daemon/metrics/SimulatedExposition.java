package dev.gpuwarden.daemon.metrics;

import dev.gpuwarden.checks.node.NodePaths;
import dev.gpuwarden.checks.node.PciBus;
import dev.gpuwarden.checks.process.NodeMemory;
import dev.gpuwarden.checks.process.ProcessOwners;
import dev.gpuwarden.checks.telemetry.NodeSampler;
import dev.gpuwarden.checks.telemetry.SamplingSettings;
import dev.gpuwarden.checks.telemetry.SingleReading;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.port.DriverProvider;
import dev.gpuwarden.testkit.sim.SimulatedNode;
import java.time.Instant;
import java.util.List;
import java.util.ServiceLoader;

/**
 * The exposition of a simulated node, read through the real driver adapter. Values that differ from run to run are
 * masked.
 */
final class SimulatedExposition {

    private SimulatedExposition() {}

    static String of(String scenario) {
        try (SimulatedNode simulated = SimulatedNode.start(scenario)) {
            simulated.freezeTime(Instant.parse("2026-01-01T00:00:00Z"));
            NodePaths paths = NodePaths.of(simulated.procfs(), simulated.sysfs(), simulated.podLogs());
            DriverProvider provider =
                    ServiceLoader.load(DriverProvider.class).findFirst().orElseThrow();
            NodeSnapshot node = SingleReading.once(
                    provider,
                    new SamplingSettings()
                            .withLibraryPath(simulated.libraryPath().toString()),
                    new PciBus(paths),
                    NodeSampler::snapshot);
            NodeMemory memory = new NodeMemory(new ProcessOwners(paths));
            Exposition exposition =
                    new Exposition(MetricsOptions.of(false, false, false), () -> List.of(CheckedNode.collector(node)));
            Collector.Scrape scrape =
                    new Collector.Scrape(node, () -> memory.attribute(node), Scrapes.sampler(), Scrapes.SELF);
            return masked(Lines.text(TextFormat.PROMETHEUS, exposition.snapshots(scrape)));
        }
    }

    static String masked(String text) {
        return text.replaceAll(
                        "(?m)^(gpuwarden_build_info\\{).*$", "$1java_version=\"(java)\",version=\"(version)\"} 1")
                .replaceAll(
                        "(?m)^(gpuwarden_gpu_(?:sample_age|sample_duration|process_list_age)_seconds\\{.*}) .*$",
                        "$1 0.0")
                .replaceAll("library_path=\"[^\"]*\"", "library_path=\"(path)\"")
                .replaceAll("sampler_path=\"[^\"]*\"", "sampler_path=\"(path)\"");
    }
}
