package dev.gpuwarden.daemon.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.api.HealthEventCodec;
import dev.gpuwarden.api.datamodels.HealthEvents;
import dev.gpuwarden.api.datamodels.PlatformConnectorGrpc;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.FaultTable;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.core.node.KnownGpus;
import dev.gpuwarden.daemon.app.ChildJvm;
import dev.gpuwarden.daemon.app.RunningDaemon;
import dev.gpuwarden.daemon.grpc.NodeClient;
import dev.gpuwarden.daemon.store.EventStore;
import dev.gpuwarden.daemon.store.StoreSettings;
import dev.gpuwarden.testkit.sim.SimulatedNode;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The commands that query a daemon, with a real one on a simulated node. */
@Tag("programs")
class ClientCommandsTest {

    private static SimulatedNode node = SimulatedNode.start("h100x8");
    private static RunningDaemon daemon;
    private static String socket = "";

    @TempDir
    Path folder;

    @BeforeAll
    static void begin() throws Exception {
        socket = "--grpc.socket=" + node.root().resolve("gpuwarden.sock");
        daemon = start();
        awaitStatus(status -> status.exitCode() == 0);
    }

    @AfterAll
    static void end() throws Exception {
        daemon.stop();
        node.close();
    }

    private static RunningDaemon start() throws IOException {
        return RunningDaemon.start(
                node, "--node.name=node-7", "--check.only=driver,gpu-count,gpu-state", "--check.interval=gpu-state=1s");
    }

    private static Program awaitStatus(Predicate<Program> condition) throws InterruptedException {
        while (true) {
            Program status = Program.run("status", socket);
            if (condition.test(status)) {
                return status;
            }
            assertThat(daemon.process().isAlive()).isTrue();
            TimeUnit.MILLISECONDS.sleep(50);
        }
    }

    /**
     * GPU 3 is lost before the daemon starts, GPU 2 has a fatal XID, and a reporter floods. All outputs for users name
     * both GPUs, and a query for one GPU is about it alone.
     */
    @Test
    void allOutputsNameTheSameGpus() throws Exception {
        String third = "GPU 3 (0000:5b:00.0)";
        String second = "GPU 2 (0000:44:00.0)";
        try (SimulatedNode lost = SimulatedNode.start("gpu-lost")) {
            PciAddress place = PciAddress.parse("0000:5b:00.0").orElseThrow();
            remember(lost, new KnownGpus.Known(3, place, "GPU-known", Optional.empty(), Optional.of("S-1")));
            Path events = lost.root().resolve("gpuwarden.sock");
            String there = "--grpc.socket=" + events;
            RunningDaemon other =
                    RunningDaemon.start(lost, "--check.only=gpu-state,fault-room", "--check.interval=gpu-state=1s");
            try {
                lost.logKernel(
                        "NVRM: Xid (PCI:0000:44:00): 48, pid='<unknown>', name=<unknown>, An uncorrectable double"
                                + " bit error (DBE) has been detected on GPU in the framebuffer");
                other.awaitMetrics(metrics -> metrics.contains("code=\"48\"") && metrics.contains("code=\"gpu-lost\""));
                report(
                        events,
                        IntStream.range(0, FaultTable.MOST_FAULTS / 4 + 1)
                                .mapToObj(i -> HealthEvent.of("noisy", "NODE", "Noise")
                                        .errorCodes(List.of("n" + i))
                                        .build())
                                .toList());
                String metrics = other.awaitMetrics(all -> all.contains("code=\"faults-left-out\""));
                assertThat(metrics)
                        .containsPattern(
                                "gpuwarden_finding\\{.*code=\"gpu-lost\".*subject=\"GPU 3 \\(0000:5b:00.0\\)\"")
                        .containsPattern("gpuwarden_gpu_info\\{.*gpu=\"3\",.*serial=\"S-1\",uuid=\"GPU-known\"")
                        .contains("gpuwarden_store_left_out_reports{agent=\"noisy\"} 1.0");
                assertThat(Program.run("status", "-o", "json", there).out())
                        .contains("\"subject\": \"" + third, "\"subject\": \"" + second, "S-1", "faults-left-out");
                assertThat(other.get("/api/v1/faults").body()).contains(third, second);
                assertThat(Program.run(lost, "scan", "-o", "json").out()).contains(third, second);
                Program cleared = Program.run("set-healthy", there, "--gpu=3", "--reason=replaced", "--yes");
                assertThat(cleared.out()).contains(third, "gpu-lost").doesNotContain(second, "Noise");
                assertThat(Program.run("events", there, "--gpu=3").out()).doesNotContain("Noise", " 48 ");
                assertThat(other.get("/api/v1/faults").body()).contains(second);
                Set<String> named = new HashSet<>();
                while (named.size() < 2) {
                    // Ends with the daemon, or the class's timeout: the lines come in any order.
                    String line = Objects.requireNonNull(other.err().readLine());
                    Stream.of(third, second).filter(line::contains).forEach(named::add);
                }
            } finally {
                other.stop();
            }
        }
    }

    /** Stores an identity as an earlier daemon would have. */
    private static void remember(SimulatedNode node, KnownGpus.Known gpu) {
        StoreSettings settings = StoreSettings.at(node.root().resolve("events.db"));
        try (EventStore store = EventStore.open(settings, Clock.systemUTC())) {
            store.keepGpus(new KnownGpus(List.of(gpu)));
        }
    }

    /** Reports a fault as an external check does. */
    private static void report(String check, String code, int gpu, boolean healthy) {
        report(node.root().resolve("gpuwarden.sock"), check, code, gpuNames(gpu), healthy);
    }

    private static void report(Path there, String check, String code, List<Entity> gpu, boolean healthy) {
        HealthEvent event = HealthEvent.of("some-monitor", "GPU", check)
                .fatal(!healthy)
                .healthy(healthy)
                .errorCodes(List.of(code))
                .entities(gpu)
                .message("it says \u001b[31m" + code)
                .action(healthy ? RecommendedAction.NONE : RecommendedAction.RESTART_BM)
                .generated(Instant.now())
                .build();
        report(there, List.of(event));
    }

    private static void report(Path there, List<HealthEvent> events) {
        try (NodeClient client = NodeClient.of(there)) {
            var unused = PlatformConnectorGrpc.newBlockingStub(client.channel())
                    .healthEventOccurredV1(HealthEvents.newBuilder()
                            .addAllEvents(events.stream()
                                    .map(HealthEventCodec::toWire)
                                    .toList())
                            .build());
        }
    }

    private static List<Entity> gpuNames(int gpu) {
        try (NodeClient client = NodeClient.of(node.root().resolve("gpuwarden.sock"))) {
            return ClientGpus.ask(ClientCommand.queries(client)).named(Integer.toString(gpu));
        }
    }

    private static String eventOf(String check) {
        Matcher id = Pattern.compile("\"id\": \"([^\"]+)\"")
                .matcher(Program.run("events", "--check", check, "--fatal", "--limit=1", "-o", "json", socket)
                        .out());
        assertThat(id.find()).isTrue();
        return id.group(1);
    }

    @Test
    void faultIsInStatusAndEventsUntilSetHealthy() throws Exception {
        report("Diag", "48", 2, false);
        Program status = Program.run("status", socket);
        assertThat(status.exitCode()).isEqualTo(1);
        assertThat(status.out())
                .contains("node        node-7", "GPUs        8 answering", "restart-bm: drain the node and reboot it")
                .containsPattern("(?m)^Diag +48 +GPU 2 .* fatal .* 1x +restart-bm ")
                .contains("it says \ufffd[31m48")
                .contains("verdict: not fit");
        assertThat(Program.run("status", "-o", "json", socket).out())
                .contains("\"schema\": \"gpuwarden.status/v1\"", "\"verdict\": \"not_fit\"", "\"storing\": true");

        assertThat(Program.run("events", "--gpu=2", "--code=48", "--since=1h", socket)
                        .out())
                .containsPattern("(?m)fatal +Diag +48 +GPU 2 .* restart-bm +1x ");
        assertThat(Program.run("events", "--gpu=3", "--check=Diag", socket)
                        .out()
                        .lines())
                .hasSize(1);
        assertThat(Program.run("events", "--check=Diag", "--until=1h", socket)
                        .out()
                        .lines())
                .hasSize(1);

        String id = eventOf("Diag");
        Program dry = Program.run("set-healthy", "--reason=new board", "--event=" + id, "--dry-run", socket);
        assertThat(dry.exitCode()).isZero();
        assertThat(dry.out()).contains("Diag", "would clear 1 fault, cleared nothing");
        assertThat(Program.run("status", socket).exitCode()).isEqualTo(1);

        Program done = Program.run("set-healthy", "--reason=new board", "--event=" + id, "--yes", socket);
        assertThat(done.exitCode()).isZero();
        assertThat(done.out()).contains("cleared 1 fault");
        assertThat(Program.run("status", socket).exitCode()).isZero();
        assertThat(Program.run("events", "--check=Diag", "--healthy", "-o", "json", socket)
                        .out())
                .contains("\"agent\": \"some-monitor\"", "\"gpuwarden.dev/reason\": \"new board\"")
                .contains("\"gpuwarden.dev/requested-by\": \"uid ");
        Program again = Program.run("set-healthy", "--reason=new board", "--event=" + id, "--yes", socket);
        assertThat(again.exitCode()).isEqualTo(1);
        assertThat(again.err()).contains("no current fault matches");
    }

    @Test
    void eventIsShownWithRemedyAndRecordingAndArchivedOnce() throws Exception {
        report("Show", "1", 1, false);
        while (!Program.run("events", "show", eventOf("Show"), "-o", "json", socket)
                .out()
                .contains("\"recording\": {")) {
            TimeUnit.MILLISECONDS.sleep(50);
        }
        report("Show", "1", 1, true);
        String id = eventOf("Show");
        Path zip = folder.resolve("case.zip");
        Program show = Program.run("events", "show", id, "--archive", zip.toString(), socket);
        assertThat(show.exitCode()).isZero();
        assertThat(show.out())
                .contains("event    " + id, "status   fatal, Show 1", "part     GPU 1", "agent    some-monitor")
                .contains("action   restart-bm: drain the node and reboot it")
                .contains("temperature_celsius ");
        List<String> files = new ArrayList<>();
        try (ZipInputStream in = new ZipInputStream(Files.newInputStream(zip))) {
            for (ZipEntry entry = in.getNextEntry(); entry != null; entry = in.getNextEntry()) {
                files.add(entry.getName());
            }
        }
        assertThat(files).contains("README.txt", "event.json", "recording.json", "status.json");

        Program second = Program.run("events", "show", id, "--archive", zip.toString(), socket);
        assertThat(second.exitCode()).isEqualTo(2);
        assertThat(second.err()).contains("already exists; --force replaces it");
        assertThat(Program.run("events", "show", id, "--archive", zip.toString(), "--force", socket)
                        .exitCode())
                .isZero();
        assertThat(Program.run("events", "show", id.substring(0, id.length() - 2), socket)
                        .out())
                .contains("event    " + id);
        assertThat(Program.run("events", "--code=no-such-code", socket).out())
                .isEqualTo("no event matches these conditions\n");
        Program none = Program.run("events", "show", "no-such-id", socket);
        assertThat(none.exitCode()).isEqualTo(1);
        assertThat(none.err()).contains("the store has no event with that id");
    }

    @Test
    void checksRunInTheDaemonUnlessASettingIsGiven() {
        Program check = Program.run("check", "gpu-state", "driver", socket);
        assertThat(check.exitCode()).isZero();
        assertThat(check.out())
                .contains("driver, gpu-state: passed, run by the daemon (this is not the verdict of the node: ")
                .doesNotContain("fit");
        assertThat(Program.run("check", "all", "-o", "json", socket).out())
                .contains("\"ranBy\": \"daemon\"", "\"check\": \"gpu-count\"");
        assertThat(Program.run(node, "check", "driver", "-o", "json", socket).out())
                .contains("\"ranBy\": \"process\"");
        assertThat(Program.run("check", "gpu-sate", socket).err()).contains("did you mean gpu-state?");
    }

    @Test
    void watchSurvivesARestartOfTheDaemon() throws Exception {
        Process watch =
                ChildJvm.gpuwarden(List.of("watch", "-o", "json", socket)).start();
        try (BufferedReader out = watch.inputReader(StandardCharsets.UTF_8);
                BufferedReader err = watch.errorReader(StandardCharsets.UTF_8)) {
            // Newer Javas warn of what libraries do; the image's options keep them quiet.
            String first = err.readLine();
            while (first != null && first.startsWith("WARNING: ")) {
                first = err.readLine();
            }
            assertThat(first).contains("watching ");
            // A change is sent only once the watch runs; until then it is part of the state.
            daemon.awaitMetrics(metrics -> metrics.contains("gpuwarden_grpc_watches 1.0"));
            report("Watched", "5", 4, false);
            assertThat(out.readLine())
                    .startsWith("{\"kind\":\"event\",\"time\":\"")
                    .contains("\"check\":\"Watched\"");
            daemon.stop();
            assertThat(err.readLine()).contains("the daemon has gone; waiting for it");
            daemon = start();
            awaitStatus(status -> status.exitCode() == 1);
            report("Watched", "5", 4, true);
            assertThat(err.readLine()).contains("the daemon is back");
            assertThat(out.readLine()).contains("\"check\":\"Watched\"", "\"healthy\":true");
        } finally {
            watch.destroy();
        }
        awaitStatus(status -> status.exitCode() == 0);
    }

    @Test
    void invalidConditionsAreUsageErrors() {
        assertThat(Program.run("events", "--healthy", "--fatal", socket).err()).contains("exclude each other");
        assertThat(Program.run("events", "--limit=0", socket).err()).contains("expected 1 to 10000");
        assertThat(Program.run("events", "--since=soon", socket).err()).contains("--since: expected an age");
        assertThat(Program.run("events", "--gpu=9", socket).err()).contains("an index of 0 to 7");
        assertThat(Program.run("set-healthy", "--reason=x", socket).err()).contains("expected one of");
        Program both = Program.run("set-healthy", "--reason=x", "--all", "--check=y", socket);
        assertThat(both.exitCode()).isEqualTo(2);
        Program blank = Program.run("set-healthy", "--reason= ", "--all", socket);
        assertThat(blank.exitCode()).isEqualTo(2);
        assertThat(blank.err()).contains("--reason: expected 1 to 1024 characters");
    }

    @Test
    void yesIsRequiredWithoutATerminal() {
        report("Asked", "3", 6, false);
        Program asked = Program.run("set-healthy", "--reason=x", "--check=Asked", socket);
        assertThat(asked.exitCode()).isEqualTo(2);
        assertThat(asked.err()).contains("expected --yes");
        Program done = Program.run("set-healthy", "--reason=x", "--check=Asked", "--code=3", "--gpu=6", "-y", socket);
        assertThat(done.exitCode()).isZero();
    }
}
