package dev.gpuwarden.daemon.app;

import static dev.gpuwarden.testkit.Await.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.api.datamodels.HealthEvent;
import dev.gpuwarden.api.datamodels.HealthEvents;
import dev.gpuwarden.api.datamodels.PlatformConnectorGrpc;
import dev.gpuwarden.api.v1.GetNodeRequest;
import dev.gpuwarden.api.v1.ListFaultsRequest;
import dev.gpuwarden.api.v1.NodeServiceGrpc;
import dev.gpuwarden.api.v1.Verdict;
import dev.gpuwarden.daemon.grpc.NodeClient;
import dev.gpuwarden.daemon.holders.TestKubelet;
import dev.gpuwarden.testkit.sim.SimulatedNode;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The daemon as a process of its own, on a simulated node. */
@Tag("programs")
class DaemonCommandTest {

    @TempDir
    Path folder;

    @Test
    void servesReadingsAndStopsOnSignal() throws Exception {
        try (SimulatedNode node = SimulatedNode.start("demo")) {
            RunningDaemon daemon = RunningDaemon.start(node);
            try {
                assertThat(String.join("\n", daemon.output()))
                        .contains("INFO app: settings: ", " path.sysfs=" + node.sysfs())
                        .doesNotContain("sampling.fast-interval");
                assertThat(daemon.output()).allMatch(line -> line.matches("\\d{4}-\\d\\d-\\d\\dT[0-9:.]{12}Z INFO .*"));
                daemon.awaitReady();
                String metrics = daemon.get("/metrics").body();
                assertThat(metrics.lines().filter(l -> l.startsWith("gpuwarden_gpu_temperature_celsius{")))
                        .hasSize(8);
                assertThat(metrics).contains("llm-pretrain-0");
            } finally {
                daemon.stop();
            }
            assertThat(daemon.process().exitValue()).isZero();
        }
    }

    @Test
    void missingAggregatorIsAMetricAndBlocksNothing() throws Exception {
        try (SimulatedNode node = SimulatedNode.start("demo")) {
            RunningDaemon daemon = RunningDaemon.start(node, "--uplink.address=127.0.0.1:9", "--uplink.insecure");
            try {
                daemon.awaitMetrics(metrics -> metrics.contains("gpuwarden_sink_up{sink=\"uplink\"} 0.0")
                        && metrics.contains("gpuwarden_sink_events_sent_total{sink=\"uplink\"} 0.0"));
            } finally {
                daemon.stop();
            }
            assertThat(daemon.process().exitValue()).isZero();
        }
    }

    private static boolean lost(String metrics) {
        return metrics.lines()
                .anyMatch(line -> line.startsWith("gpuwarden_faults{") && line.contains("code=\"gpu-lost\""));
    }

    @Test
    void checkFaultSurvivesRestartsUntilThePartRecovers() throws Exception {
        String often = "--check.interval=gpu-state=1s";
        String fails = "gpuwarden_check_outcome{check=\"gpu-state\",outcome=\"fail\"} 1.0";
        try (SimulatedNode node = SimulatedNode.start("h100x8")) {
            // The lines of the lost GPU are events of their own.
            RunningDaemon daemon = RunningDaemon.start(node, often, "--kernel-log.source=none");
            try {
                daemon.awaitMetrics(metrics -> metrics.contains("gpuwarden_node_outcome{outcome=\"fit\"} 1.0"));
                node.set("gpu.3.state", "lost");
                assertThat(daemon.awaitMetrics(DaemonCommandTest::lost))
                        .contains(fails, "gpuwarden_node_outcome{outcome=\"not_fit\"} 1.0");
            } finally {
                daemon.stop();
            }
            RunningDaemon again = RunningDaemon.start(node, often, "--kernel-log.source=none");
            try {
                String metrics = again.awaitMetrics(seen -> seen.contains(fails));
                assertThat(lost(metrics)).isTrue();
                assertThat(metrics).contains("gpuwarden_store_events 1.0");
                node.set("gpu.3.state", "ok");
                assertThat(again.awaitMetrics(seen -> !lost(seen))).contains("gpuwarden_store_events 2.0");
            } finally {
                again.stop();
            }
        }
    }

    private static boolean xidOfDcgm(String line) {
        return line.startsWith("DCGM_FI_DEV_XID_ERRORS{")
                && line.contains("pci_bus_id=\"00000000:5B:00.0\"")
                && line.endsWith(" 79.0");
    }

    @Test
    void kernelFaultIsRaisedWithinASecondAndOnceAcrossRestarts() throws Exception {
        Predicate<String> fault = metrics -> metrics.contains("code=\"79\"")
                && metrics.contains("gpuwarden_faults{")
                && metrics.lines().anyMatch(DaemonCommandTest::xidOfDcgm);
        try (SimulatedNode node = SimulatedNode.start("h100x8");
                TestKubelet kubelet = new TestKubelet(node.root().resolve("kubelet.sock"))) {
            kubelet.says(TestKubelet.pod("trainer-0", "nvidia.com/gpu", "3"));
            String line =
                    "NVRM: Xid (PCI:0000:5b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.";
            RunningDaemon daemon = RunningDaemon.start(
                    node,
                    "--metrics.dcgm-names",
                    "--path.pod-resources=" + node.root().resolve("kubelet.sock"));
            try {
                daemon.awaitMetrics(
                        metrics -> metrics.contains("gpuwarden_kernel_log_up{source=\"" + node.kernelLog()));
                node.logUser(line);
                node.logKernel(line);
                String metrics = daemon.awaitMetrics(fault.and(told -> told.contains("pod=\"trainer-0\"")));
                assertThat(metrics)
                        .contains("gpuwarden_kernel_log_forged_records_total 1.0")
                        .contains("gpuwarden_kernel_log_signals_total{code=\"79\",kind=\"xid\"} 1.0")
                        .contains("gpuwarden_check_outcome{check=\"kernel-log\",outcome=\"pass\"} 1.0");
            } finally {
                daemon.stop();
            }
            RunningDaemon again = RunningDaemon.start(node, "--metrics.dcgm-names");
            try {
                assertThat(again.awaitMetrics(fault)).contains("gpuwarden_kernel_log_events_total 0.0");
            } finally {
                again.stop();
            }
        }
    }

    @Test
    void eventReportedOnTheSocketIsQueryable() throws Exception {
        try (SimulatedNode node = SimulatedNode.start("h100x8")) {
            RunningDaemon daemon = RunningDaemon.start(node, "--node.name=node-7");
            try (NodeClient checks = NodeClient.of(node.root().resolve("nvsentinel.sock"));
                    NodeClient queries = NodeClient.of(RunningDaemon.socket(node))) {
                assertThat(String.join("\n", daemon.output()))
                        .contains("answering gRPC on unix:" + RunningDaemon.socket(node) + ", unix:");
                var unused = PlatformConnectorGrpc.newBlockingStub(checks.channel())
                        .healthEventOccurredV1(HealthEvents.newBuilder()
                                .addEvents(HealthEvent.newBuilder()
                                        .setAgent("preflight-dcgm-diag")
                                        .setComponentClass("GPU")
                                        .setCheckName("DcgmDiagnosticMemory")
                                        .setIsFatal(true))
                                .build());
                var ask = NodeServiceGrpc.newBlockingStub(queries.channel());
                assertThat(ask.listFaults(ListFaultsRequest.getDefaultInstance())
                                .getFaultsList())
                        .anyMatch(fault -> fault.getKey().getCheckName().equals("DcgmDiagnosticMemory")
                                && fault.getKey().getNodeName().equals("node-7"));
                assertThat(ask.getNode(GetNodeRequest.getDefaultInstance()).getVerdict())
                        .isEqualTo(Verdict.VERDICT_NOT_FIT);
                assertThat(daemon.get("/metrics").body())
                        .contains("gpuwarden_grpc_calls_total{code=\"OK\",method=\"HealthEventOccurredV1\","
                                + "service=\"datamodels.PlatformConnector\"} 1.0")
                        .contains("gpuwarden_grpc_connections 2.0");
            } finally {
                daemon.stop();
            }
            assertThat(RunningDaemon.socket(node)).doesNotExist();
        }
    }

    @Test
    void stopsWhileAGpuHangs() throws Exception {
        try (SimulatedNode node = SimulatedNode.start("gpu-hang")) {
            RunningDaemon daemon = RunningDaemon.start(node);
            assertThat(daemon.get("/healthz").statusCode()).isEqualTo(200);
            daemon.stop();
            assertThat(daemon.process().exitValue()).isZero();
        }
    }

    @Test
    void runsWithoutGpuAndWithoutWritableFolders() throws Exception {
        RunningDaemon daemon = RunningDaemon.start(
                "--grpc.socket=none",
                "--events.socket=none",
                "--driver.library-path=/nonexistent/libnvidia-ml.so.1",
                "--store.path=:memory:");
        try {
            daemon.awaitReady();
            assertThat(daemon.get("/metrics").body()).contains("gpuwarden_store_in_memory 1.0");
        } finally {
            daemon.stop();
        }
        assertThat(daemon.process().exitValue()).isZero();
    }

    /** Returns the error of a daemon that cannot start. */
    private static String refused(String... options) throws Exception {
        List<String> arguments = new ArrayList<>(List.of("daemon"));
        arguments.addAll(List.of(options));
        Process daemon = ChildJvm.gpuwarden(arguments).redirectErrorStream(true).start();
        String output = new String(daemon.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(daemon.waitFor()).as(output).isEqualTo(2);
        return output;
    }

    @Test
    void secondDaemonOnTheSameStoreIsAUserError() throws Exception {
        try (SimulatedNode node = SimulatedNode.start("t4")) {
            RunningDaemon first = RunningDaemon.start(node);
            try {
                assertThat(refused(
                                "--driver.library-path=" + node.libraryPath(),
                                "--store.path=" + node.root().resolve("events.db"),
                                "--web.listen-address=127.0.0.1:0"))
                        .contains("in use by another gpuwarden daemon (process "
                                + first.process().pid() + ")");
            } finally {
                first.stop();
            }
        }
    }

    @Test
    void addressInUseIsAUserError() throws Exception {
        try (SimulatedNode node = SimulatedNode.start("t4");
                ServerSocket other = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            assertThat(refused(
                            "--driver.library-path=" + node.libraryPath(),
                            "--store.path=:memory:",
                            "--grpc.socket=none",
                            "--events.socket=none",
                            "--web.listen-address=127.0.0.1:" + other.getLocalPort()))
                    .contains("cannot listen on");
        }
    }

    @Test
    void aggregatorAndKubernetesWritingTogetherAreAUserError() throws Exception {
        assertThat(refused("--uplink.address=127.0.0.1:9", "--uplink.insecure", "--kubernetes.write=conditions"))
                .contains("--kubernetes.write does not go together with --uplink.address");
    }

    @Test
    void checkInFlightAtAKillIsAFaultAfterTheRestart() throws Exception {
        Path scenario = Files.writeString(folder.resolve("slow.yaml"), """
                driver: 550
                gpus: [{profile: l4}]
                faults: [{name: slow, function: cuLaunchKernel, delay: 500ms}]
                """);
        try (SimulatedNode node = SimulatedNode.start(scenario.toString())) {
            String[] options = {
                "--check.load=invasive",
                "--check.isolation=process",
                "--check.interval=gpu-results=1s",
                "--check.disable=gpumem,pciebw",
                "--path.pod-resources=" + folder.resolve("no-kubelet/kubelet.sock")
            };
            RunningDaemon daemon = RunningDaemon.start(node, options);
            Path records = node.root().resolve("in-flight");
            // A record has another name while it is written.
            until(() -> Optional.ofNullable(records.toFile().list((dir, name) -> name.endsWith(".in-flight")))
                    .filter(names -> names.length == 1)
                    .isPresent());
            daemon.process().destroyForcibly().waitFor();
            daemon = RunningDaemon.start(node, options);
            try {
                String skipped = "gpuwarden_check_parts{check=\"gpu-results\",outcome=\"skipped\"} 1.0";
                assertThat(daemon.awaitMetrics(metrics -> metrics.contains(skipped)))
                        .containsPattern("gpuwarden_faults\\{.*check=\"GpuCheckCrash\",code=\"gpu-results\"")
                        .contains("gpuwarden_check_set_interval_seconds{check=\"gpu-results\",set=\"invasive\"} 1.0");
            } finally {
                daemon.stop();
            }
        }
    }
}
