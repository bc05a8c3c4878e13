package dev.gpuwarden.aggregator.app;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.nodehealth.NodeHealth.ReportedState;
import dev.gpuwarden.aggregator.nodehealth.NodeHealthClient;
import dev.gpuwarden.aggregator.nodehealth.StoredHealth;
import dev.gpuwarden.aggregator.nodehealth.StoredHealth.StreamEpoch;
import dev.gpuwarden.core.node.ReportedGpus;
import dev.gpuwarden.testkit.cluster.HollowNodes;
import java.io.File;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Prints the durations of `gpuwarden fleet` on many nodes that RATIONALE.md states. */
@Tag("api")
class FleetSpeedTest {

    private static final int NODES = Integer.getInteger("gpuwarden.fleet.nodes", 2_000);
    private static final int ROUNDS = 5;

    /** Classes of another build of this module, for a comparison on the same nodes. */
    private static final Optional<String> OTHER = Optional.ofNullable(System.getProperty("gpuwarden.fleet.other"));

    @TempDir
    Path folder;

    @Test
    @Tag("soak")
    @Timeout(1_800)
    void manyHealthyNodes() throws Exception {
        try (TestFleet fleet = TestFleet.start(folder.resolve("plane"));
                HollowNodes nodes = HollowNodes.create(fleet.plane, "many", NODES, 0)) {
            report(fleet, nodes.names());
            for (int round = 0; round < ROUNDS; round++) {
                print("this build", run(fleet, Optional.empty()));
                if (OTHER.isPresent()) {
                    print("other build", run(fleet, OTHER));
                }
            }
        }
    }

    /** Writes a report without faults for each node. */
    private static void report(TestFleet fleet, List<String> names) throws Exception {
        ExecutorService writers = Executors.newFixedThreadPool(16);
        try (KubeClient api = fleet.asAggregator()) {
            NodeHealthClient healths = new NodeHealthClient(api);
            List<Future<?>> all = new ArrayList<>();
            for (String name : names) {
                all.add(writers.submit(() -> {
                    StoredHealth seen = healths.read(name);
                    Instant now = Instant.now();
                    return healths.write(
                            new ReportedState(
                                    name,
                                    "boot",
                                    "1",
                                    now,
                                    StreamEpoch.next(seen.claim(), now, "test"),
                                    1,
                                    1,
                                    0,
                                    List.of(),
                                    ReportedGpus.NONE),
                            seen);
                }));
            }
            for (Future<?> each : all) {
                each.get();
            }
        } finally {
            writers.shutdownNow();
        }
    }

    /** @return the output of `time` for the command in a process of its own, as users run it */
    private String run(TestFleet fleet, Optional<String> other) throws Exception {
        String own = Path.of(KubeClient.class
                        .getProtectionDomain()
                        .getCodeSource()
                        .getLocation()
                        .toURI())
                .toString();
        String classes = Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
                .map(entry -> Path.of(entry).equals(Path.of(own)) ? other.orElse(entry) : entry)
                .collect(Collectors.joining(File.pathSeparator));
        Path out = folder.resolve("out");
        Process process = new ProcessBuilder(
                        "bash",
                        "-c",
                        "TIMEFORMAT='%R s, %U s + %S s of processor'; time \"$@\" >\"$0\" 2>&1",
                        out.toString(),
                        Path.of(System.getProperty("java.home"), "bin/java").toString(),
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        classes,
                        "dev.gpuwarden.cli.Main",
                        "fleet",
                        "--kubeconfig",
                        fleet.plane.adminKubeconfig().toString())
                .start();
        String time = new String(process.getErrorStream().readAllBytes(), UTF_8).strip();
        int code = process.waitFor();
        assertThat(out).content().contains("healthy");
        assertThat(code).as(() -> "see " + out).isZero();
        return time;
    }

    private static void print(String what, String time) {
        System.out.printf("gpuwarden fleet, %d nodes, %s: %s%n", NODES, what, time);
    }
}
