package dev.gpuwarden.daemon.repair;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.daemon.app.ChildJvm;
import dev.gpuwarden.daemon.app.RunningDaemon;
import dev.gpuwarden.testkit.sim.SimulatedNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A server without Kubernetes, with a real daemon, a real holder of a GPU, and the simulated nvidia-smi. */
@Tag("programs")
class ServerRepairTest {

    private SimulatedNode node;
    private @Nullable Unit unit;

    @BeforeEach
    void begin() {
        node = SimulatedNode.start("nvlink-pairs");
    }

    @AfterEach
    void end() throws Exception {
        if (unit != null) {
            unit.run("stop");
        }
        node.close();
    }

    private RunningDaemon daemon(String mode, String... more) throws IOException {
        return daemon(mode, Map.of(), more);
    }

    private RunningDaemon daemon(String mode, Map<String, String> variables, String... more) throws IOException {
        Map<String, String> environment = new HashMap<>(node.environment());
        environment.putAll(variables);
        environment.put("GPUWARDEN_SIM_ROOT", "1");
        environment.put("GPUWARDEN_CHECK_ONLY", "gpu-state");
        // The drop-in arms it in this way, and gpu-reset gets the same environment.
        environment.put("GPUWARDEN_REPAIR_MODE", mode);
        List<String> options = new ArrayList<>(List.of("--repair.settle=1s", "--repair.patience=1s"));
        options.addAll(List.of(more));
        return RunningDaemon.start(environment, node, options.toArray(String[]::new));
    }

    private String address(int gpu) {
        return String.format(
                "0000:%02x:%02x",
                node.control().table().number("gpu[" + gpu + "].pci_bus"),
                node.control().table().number("gpu[" + gpu + "].pci_device"));
    }

    private String uuid(int gpu) {
        return node.control().table().text("gpu[" + gpu + "].uuid");
    }

    private void breakGpu(int gpu) {
        node.logKernel("NVRM: Xid (PCI:" + address(gpu)
                + "): 48, pid='<unknown>', name=<unknown>, An uncorrectable double bit error (DBE) has been detected");
        node.set("gpu." + gpu + ".state", "reset-required");
    }

    private static boolean hasFault(String metrics) {
        return metrics.lines().anyMatch(line -> line.startsWith("gpuwarden_faults{") && line.contains("code=\"48\""));
    }

    private static String recorded(String outcome) {
        return "gpuwarden_repairs_recorded{kind=\"reset\",outcome=\"" + outcome + "\"} 1.0";
    }

    private Path record() {
        return node.root().resolve("events-repairs.jsonl");
    }

    private List<RepairAttempt> attempts() throws IOException {
        return RepairLog.open(record(), Clock.systemUTC()).attempts();
    }

    @Test
    void anArmedDaemonResetsTheGpuThatADryRunOnlyNames() throws Exception {
        RunningDaemon dry = daemon("dry-run");
        breakGpu(2);
        dry.awaitMetrics(
                metrics -> hasFault(metrics) && metrics.contains("gpuwarden_repair_state{state=\"blocked\"} 1.0"));
        assertThat(node.control().gpus().get(2).fit()).isFalse();
        assertThat(record()).doesNotExist();
        dry.stop();

        RunningDaemon armed = daemon("armed");
        armed.awaitMetrics(metrics -> metrics.contains(recorded("succeeded")) && !hasFault(metrics));
        armed.awaitMetrics(metrics -> metrics.contains("gpuwarden_repair_state{state=\"idle\"} 1.0"));
        assertThat(node.control().gpus().get(2).fit()).isTrue();
        armed.stop();
        assertThat(attempts()).singleElement().satisfies(attempt -> {
            assertThat(attempt.subjects()).as("of one reset unit").containsExactlyInAnyOrder(uuid(2), uuid(3));
            assertThat(attempt.why()).isEqualTo("GpuState reset-required, SysLogsXIDError 48");
            assertThat(attempt.steps())
                    .extracting(RepairAttempt.Step::name)
                    .containsExactly(RepairAttempt.BEGIN_RESET, RepairAttempt.RESET);
        });
    }

    /** A unit that holds a GPU, and a systemctl for it in a folder of PATH. */
    private final class Unit {

        private final Path folder = node.root().resolve("units");
        private final Path calls = folder.resolve("calls");

        Unit(int gpu) throws IOException {
            Files.createDirectory(folder);
            StringBuilder script = new StringBuilder("#!/bin/sh\ncd " + folder + "\n");
            // The processes of a service have the environment of the manager.
            node.environment().forEach((name, value) -> script.append("export " + name + "='" + value + "'\n"));
            script.append("unset GPUWARDEN_RUN\n");
            script.append("runs() { [ -e pid ] && kill -0 $(cat pid) 2>/dev/null; }\n");
            String holder = ChildJvm.gpuwarden(
                            List.of("sim", "use", "--gpu", String.valueOf(gpu), "--mib", "100", "--name", "llama"))
                    .command()
                    .stream()
                    .map(word -> "'" + word + "'")
                    .collect(Collectors.joining(" "));
            script.append("""
                    case $1 in
                        is-active) runs && echo active || echo inactive ;;
                        stop)
                            echo stop >>calls
                            runs && kill $(cat pid)
                            while runs; do sleep 0.05; done
                            ;;
                        start)
                            runs && exit
                            echo start >>calls
                            setsid %s >/dev/null 2>&1 </dev/null &
                            echo $! >pid
                            ;;
                    esac
                    """.formatted(holder));
            Path program = Files.writeString(folder.resolve("systemctl"), script);
            assertThat(program.toFile().setExecutable(true)).isTrue();
        }

        Map<String, String> path() {
            return Map.of("PATH", folder + ":" + System.getenv("PATH"));
        }

        void run(String word) throws IOException, InterruptedException {
            Process systemctl = new ProcessBuilder(folder.resolve("systemctl").toString(), word, "--", "llama.service")
                    .inheritIO()
                    .start();
            assertThat(systemctl.waitFor()).isZero();
        }
    }

    @Test
    void rebootByAProgramKeepsEvidenceBeforeAndIsProvenByAnotherBoot() throws Exception {
        unit = new Unit(3);
        unit.run("start");
        Path calls = node.root().resolve("calls");
        Path program = Files.writeString(node.root().resolve("power-cycle"), "#!/bin/sh\necho \"$@\" >>" + calls);
        assertThat(program.toFile().setExecutable(true)).isTrue();
        String[] options = {
            "--repair.reboot=always",
            "--repair.reboot-command=" + program + ",--now",
            "--repair.stop-units=llama.service",
            "--check.only=gpu-state,gpumem"
        };
        RunningDaemon armed = daemon("armed", unit.path(), options);
        node.logKernel("NVRM: Xid (PCI:" + address(3) + "): 79, GPU has fallen off the bus.");
        String line = armed.err().readLine();
        while (!line.contains("repair: begins: reboot of this server")) {
            line = armed.err().readLine();
        }
        assertThat(line)
                .endsWith("by " + program + " --now, after an archive of evidence in "
                        + node.root().resolve("bundles"));
        while (!Files.exists(calls)) {
            TimeUnit.MILLISECONDS.sleep(50);
        }
        armed.stop();
        RepairAttempt open = attempts().get(0);
        assertThat(open.end()).isEmpty();
        String evidence = open.done(RepairAttempt.EVIDENCE).orElseThrow().detail();
        assertThat(Path.of(evidence.replaceFirst("evidence in ", "")))
                .isNotEmptyFile()
                .hasParent(node.root().resolve("bundles"));

        node.reboot();
        unit.run("start");
        RunningDaemon next = daemon("armed", unit.path(), options);
        next.awaitMetrics(
                metrics -> metrics.contains("gpuwarden_repairs_recorded{kind=\"reboot\",outcome=\"succeeded\"} 1.0"));
        next.stop();
        assertThat(Files.readAllLines(calls)).containsExactly("--now");
        assertThat(Files.readAllLines(unit.calls))
                .as("the unit that the boot starts holds the GPU of the checks")
                .containsExactly("start", "stop", "start", "stop", "start");
        assertThat(RepairHistory.read(record()).get(0).detail()).matches("boot [0-9a-f-]+; \\Q" + evidence + "\\E");
    }

    @Test
    void aGpuThatAProcessHoldsAndAHookThatFailsAreLeftToAnOperator() throws Exception {
        Path hook = Files.writeString(
                node.root().resolve("hook"), "#!/bin/sh\nprintf '%s\\n' \"$FAULT\" >>\"$1\"\nexit 4\n");
        assertThat(hook.toFile().setExecutable(true)).isTrue();
        Path calls = node.root().resolve("hook-calls");
        Process holder = new ProcessBuilder("sleep", "600")
                .redirectInput(node.devices().resolve("nvidia1").toFile())
                .start();
        RunningDaemon daemon =
                daemon("armed", "--repair.hook=" + hook + "," + calls, "--repair.hook-actions=RESTART_BM");
        try {
            breakGpu(1);
            daemon.awaitMetrics(metrics -> metrics.contains(recorded("held"))
                    && metrics.contains("gpuwarden_repair_state{state=\"operator\"} 1.0")
                    && metrics.contains("gpuwarden_repair_operator_tasks 1.0"));
            assertThat(node.control().gpus().get(1).fit()).isFalse();
            assertThat(holder.isAlive()).isTrue();
            assertThat(Files.readString(record())).contains("process " + holder.pid());

            node.logKernel("NVRM: Xid (PCI:" + address(3) + "): 79, GPU has fallen off the bus.");
            daemon.awaitMetrics(
                    metrics -> metrics.contains("gpuwarden_repairs_recorded{kind=\"hook\",outcome=\"failed\"} 1.0")
                            && metrics.contains("gpuwarden_repair_operator_tasks 2.0"));
            assertThat(Files.readAllLines(calls)).singleElement().asString().contains("\"action\":\"RESTART_BM\"");
            assertThat(attempts().get(1).steps())
                    .extracting(RepairAttempt.Step::name)
                    .containsExactly(RepairAttempt.BEGIN_HOOK, RepairAttempt.HOOK);
        } finally {
            holder.destroy();
            daemon.stop();
        }
    }
}
