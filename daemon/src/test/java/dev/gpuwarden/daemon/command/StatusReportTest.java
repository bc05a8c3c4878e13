package dev.gpuwarden.daemon.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.api.CheckCodec;
import dev.gpuwarden.api.FaultCodec;
import dev.gpuwarden.api.GpuCodec;
import dev.gpuwarden.api.NodeCodec;
import dev.gpuwarden.api.v1.Check;
import dev.gpuwarden.api.v1.Gpu;
import dev.gpuwarden.api.v1.GpuView;
import dev.gpuwarden.api.v1.ListFaultsResponse;
import dev.gpuwarden.api.v1.Node;
import dev.gpuwarden.checks.NodeFixture;
import dev.gpuwarden.cli.Output;
import dev.gpuwarden.core.check.CheckInfo;
import dev.gpuwarden.core.check.CheckResult;
import dev.gpuwarden.core.check.Damping;
import dev.gpuwarden.core.check.Damping.Phase;
import dev.gpuwarden.core.check.FaultChange;
import dev.gpuwarden.core.check.FaultChange.Kind;
import dev.gpuwarden.core.check.FaultChange.Meaning;
import dev.gpuwarden.core.check.FindingEvents;
import dev.gpuwarden.core.check.NodeVerdict;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.FaultTable;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.ProcessingStrategy;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Subject;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.telemetry.GpuState;
import dev.gpuwarden.daemon.Golden;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A node's status in the forms for users and for programs. */
class StatusReportTest {

    static final Instant NOW = Instant.parse("2026-11-21T12:00:00Z");

    private static final CheckInfo STATE = CheckInfo.of("gpu-state", "GPU", "Each GPU answers.");
    private static final CheckInfo KERNEL_LOG = CheckInfo.of("kernel-log", "NODE", "The kernel log can be read.");
    private static final CheckInfo LINK = CheckInfo.of("nic-link", "NIC", "Each port is up.");

    private static final CheckResult LOG_READ =
            result(KERNEL_LOG, Finding.pass("kernel-log", Subject.NODE, "kmsg is read without a gap"));

    private static CheckResult result(CheckInfo check, Finding finding) {
        return CheckResult.of(check, NOW.minusSeconds(5), Duration.ofMillis(2), List.of(finding));
    }

    private static StatusReport report(
            NodeSnapshot node, List<CheckResult> results, List<Fault> faults, boolean storing) {
        List<Check> checks = new ArrayList<>();
        results.forEach(result -> checks.add(CheckCodec.toWire(result.check()).toBuilder()
                .setLast(CheckCodec.toWire(result))
                .build()));
        checks.add(CheckCodec.toWire(LINK));
        Node.Builder wire = Node.newBuilder()
                .setName("node-7")
                .setBootId("0d3c")
                .setVersion("1.2.3")
                .setDriver(NodeCodec.toWire(node.driver()))
                .setPciGpus(NodeCodec.pciGpus(node.pciGpus()))
                .setVerdict(CheckCodec.toWire(NodeVerdict.of(results, faults)));
        NodeVerdict.findings(results).forEach(finding -> wire.addReasons(CheckCodec.toWire(finding)));
        wire.getDaemonStartedBuilder()
                .setSeconds(NOW.minus(Duration.ofMinutes(200)).getEpochSecond());
        if (!storing) {
            wire.setNotStored("disk full (/var/lib/gpuwarden, 0 B free)");
            wire.addUnreachedBuilder()
                    .setReceiver("kubernetes")
                    .setWhy("the API server answers 403: nodes \u001b[2J is forbidden");
        }
        List<Gpu> gpus = node.gpus().stream()
                .map(gpu -> GpuCodec.toWire(gpu, GpuView.GPU_VIEW_BASIC))
                .toList();
        ListFaultsResponse list = ListFaultsResponse.newBuilder()
                .addAllFaults(faults.stream().map(FaultCodec::toWire).toList())
                .build();
        return StatusReport.of(wire.build(), gpus, list, checks, storing);
    }

    private static StatusReport broken() {
        FaultTable faults = new FaultTable();
        List<Entity> gpu = Subject.of(NodeFixture.identity(1)).entities();
        faults.apply(
                HealthEvent.of("syslog-health-monitor", "GPU", "SysLogsXIDError")
                        .id("id-1")
                        .fatal(true)
                        .errorCodes(List.of("79"))
                        .entities(gpu)
                        .message("ROBUST_CHANNEL_GPU_HAS_FALLEN_OFF_THE_BUS \u001b[2J NVRM: Xid (PCI:0000:3b:00): 79")
                        .action(RecommendedAction.RESTART_BM)
                        .nodeName("node-7")
                        .build(),
                1,
                NOW.minus(Duration.ofMinutes(3)));
        faults.apply(
                HealthEvent.of("other", "NIC", "PortFlaps")
                        .id("id-2")
                        .entities(List.of(new Entity("NIC", "mlx5_0")))
                        .message("port 1 of mlx5_0 went down 3 times")
                        .nodeName("node-7")
                        .build(),
                2,
                NOW.minus(Duration.ofHours(50)));
        CheckResult lost = result(
                STATE,
                Finding.fail(
                        "gpu-lost",
                        Subject.of(NodeFixture.identity(1)),
                        "GPU 1 is lost",
                        "drain the node and reboot it",
                        RecommendedAction.RESTART_BM));
        NodeSnapshot node = NodeFixture.node(
                List.of(NodeFixture.gpu(0), NodeFixture.gpu(1, GpuState.LOST, NodeFixture.frame(), List.of())));
        return report(node, List.of(LOG_READ, lost), faults.faults(), false);
    }

    private static String table(StatusReport report) {
        StringWriter text = new StringWriter();
        PrintWriter out = new PrintWriter(text);
        new StatusText(report).print(NOW, out);
        out.flush();
        return text.toString();
    }

    @Test
    void brokenNodeShowsItsFaults() throws IOException {
        Golden.check("status/broken.txt", table(broken()));
        Golden.check("status/broken.json", Output.json(broken().tree()) + "\n");
    }

    @Test
    void fitNodeIsShort() throws IOException {
        StatusReport fit = report(NodeFixture.node(2), List.of(LOG_READ), List.of(), true);
        Golden.check("status/fit.txt", table(fit));
    }

    @Test
    void undecidedVerdictNamesTheCause() {
        CheckResult blind = result(
                KERNEL_LOG, Finding.unknown("kernel-log-unreadable", Subject.NODE, "no permission", "run as root"));
        assertThat(table(report(NodeFixture.node(2), List.of(blind), List.of(), true)))
                .contains("UNKNOWN  kernel-log-unreadable  no permission")
                .endsWith("verdict: could not decide (kernel-log-unreadable)\n");
    }

    @Test
    void answerOfANewerDaemonIsAccepted() {
        StatusReport strange = StatusReport.of(
                Node.newBuilder().setName("node-7").setVerdictValue(77).build(),
                List.of(Gpu.newBuilder().setStateValue(99).build()),
                ListFaultsResponse.getDefaultInstance(),
                List.of(),
                true);
        assertThat(table(strange))
                .contains("does not support", "GPUs        1 unknown")
                .endsWith("verdict: could not decide (nothing was checked)\n");
    }

    private static HealthEvent.Builder told(String code) {
        return HealthEvent.of("a-reporter", "NODE", "AnyCheck")
                .id("id-" + code)
                .errorCodes(List.of(code))
                .nodeName("node-7");
    }

    /** A reporter may fill the table with 2,048 faults of 16 KiB each. */
    @Test
    void reportedFaultsAreBoundedAndFatalOnesShown() {
        FaultTable faults = new FaultTable();
        for (int i = 0; i < 500; i++) {
            faults.apply(told("c" + i).message("é".repeat(1_000)).build(), i + 1, NOW.minusSeconds(600));
        }
        faults.apply(told("the-fatal-one").fatal(true).message("short").build(), 501, NOW.minusSeconds(900));
        String table = table(report(NodeFixture.node(2), List.of(LOG_READ), faults.faults(), true));
        assertThat(table)
                .contains("the-fatal-one", "FATAL  AnyCheck  short")
                .contains("é… (1000 characters)")
                .contains("and 451 more faults, 0 of them fatal; 'gpuwarden status -o json' has all");
        assertThat(table).hasSizeLessThan(40_000);
        assertThat(table.lines().filter(line -> line.startsWith("FAULT  AnyCheck")))
                .as("equal as shown")
                .singleElement()
                .asString()
                .endsWith("é… (1000 characters)  (49 faults)");
        assertThat(table.lines().filter(line -> line.contains("this alone asks for nothing")))
                .hasSize(2);
    }

    /** Its sender permits no action on it, and the verdict leaves it out. */
    @Test
    void storedOnlyFaultsAreMarked() {
        FaultTable faults = new FaultTable();
        faults.apply(
                told("x")
                        .fatal(true)
                        .action(RecommendedAction.RESTART_BM)
                        .strategy(ProcessingStrategy.STORE_ONLY)
                        .message("a trial")
                        .build(),
                1,
                NOW.minusSeconds(60));
        StatusReport report = report(NodeFixture.node(2), List.of(LOG_READ), faults.faults(), true);
        assertThat(table(report))
                .contains("fatal, stored only  1m")
                .doesNotContain("restart-bm")
                .contains("       stored only, no program acts on it; if it is right: drain the node and reboot it")
                .endsWith("verdict: fit (1 check passed)\n");
        assertThat(Output.json(report.tree())).contains("\"strategy\": \"store_only\"");
    }

    @Test
    void dampedFaultsAreShown() {
        CheckInfo damped = STATE.damped(3, 4);
        Subject gpu = Subject.of(NodeFixture.identity(1));
        Meaning meaning = new Meaning("gpu-lost", true, RecommendedAction.RESTART_BM);
        Finding passes = Finding.pass("gpu-answering", gpu, "answers");
        FaultTable faults = new FaultTable();
        faults.apply(
                FindingEvents.of(new FaultChange(Kind.RAISED, damped, gpu, meaning, passes, 0, NOW), "node-7"), 1, NOW);
        List<Damping> damping = List.of(
                new Damping(damped, gpu, "gpu-lost", Phase.RECOVERING, 2, 4),
                new Damping(damped, Subject.of(NodeFixture.identity(0)), "gpu-hung", Phase.FAILING, 1, 3));
        Check.Builder check = CheckCodec.toWire(damped).toBuilder();
        damping.forEach(each -> check.addDamping(CheckCodec.toWire(each)));
        StatusReport report = StatusReport.of(
                Node.getDefaultInstance(),
                List.of(),
                ListFaultsResponse.newBuilder()
                        .addAllFaults(
                                faults.faults().stream().map(FaultCodec::toWire).toList())
                        .build(),
                List.of(check.build()),
                true);
        assertThat(report.damping()).isEqualTo(damping);
        assertThat(table(report))
                .contains("recovering, 2 of 4 passes", "gpu-hung of GPU 0 (0000:1b:00.0): failing, 1 of 3")
                .contains("'gpuwarden scan' runs once");
        assertThat(Output.json(report.tree())).contains("\"phase\": \"recovering\"", "\"neededLooks\": 4");
    }
}
