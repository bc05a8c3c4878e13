package dev.gpuwarden.daemon.repair;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.daemon.app.RunningDaemon;
import dev.gpuwarden.testkit.Await;
import dev.gpuwarden.testkit.sim.SimulatedNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A real daemon that is stopped or killed at a step of its own repair, and the one that begins after it. Scripts in place of systemd and of
 * nvidia-smi kill it. One of the kills runs; {@code -Dgpuwarden.kills=.*} runs all, in eight minutes.
 */
@Tag("programs")
class ServerRepairKillTest {

    private static final List<String> STEPS = List.of(
            "before-stop",
            "after-stop",
            "release",
            "before-off",
            "after-off",
            "before-reset",
            "after-reset",
            "before-on",
            "after-on",
            "before-start",
            "after-start");

    /** Steps are `step NAME`. The daemon is killed at the first that is the chosen one; with `both` gpu-reset too. */
    private static final String STEP = """
            #!/bin/sh
            cd FOLDER
            step() {
                [ "$1" = "$(cat step)" ] && mkdir killed 2>/dev/null || return
                pids=$(cat daemon.pid)
                # Its shell is the parent, and gpu-reset the parent of that. It ends this script.
                [ -e both ] && pids="$pids $(awk '{print $4}' /proc/$PPID/stat)"
                if [ -e group ]; then
                    # As systemd does, all processes of the daemon's unit, of which the daemon may be the last to see it.
                    first=$(cat client.pid 2>/dev/null || awk '{print $4}' /proc/$PPID/stat)
                    env -u GPUWARDEN_RUN setsid sh -c "kill -TERM $first; sleep 0.5; kill -TERM $pids" </dev/null >/dev/null 2>&1 &
                else
                    kill -$(cat signal) $pids
                fi
                while kill -0 $(cat daemon.pid) 2>/dev/null; do sleep 0.05; done
            }
            """;

    private static final String SYSTEMCTL = STEP + """
            case "$*" in
                "is-active -- llama.service") cat llama ;;
                is-active*) kill -0 $(cat unit.pid) 2>/dev/null && echo active || { echo inactive; exit 3; } ;;
                stop*) step before-stop; echo stop >>log; echo inactive >llama; step after-stop ;;
                start*)
                    step before-start
                    echo start >>log
                    echo active >llama
                    step after-start ;;
                reboot) echo reboot >>log ;;
            esac
            exit 0
            """;

    /** A unit outlives its requester, and inherits nothing of it. */
    private static final String SYSTEMD_RUN = STEP + """
            starter=
            while [ "${1#--}" != "$1" ]; do
                [ "$1" = --no-block ] && starter=yes
                shift
            done
            if [ $starter ]; then
                env -u GPUWARDEN_RUN setsid sh -c 'touch starter; exec "$@"' sh "$@" </dev/null >/dev/null 2>&1 &
                while [ ! -e starter ]; do sleep 0.05; done
                exit 0
            fi
            echo $$ >client.pid
            case "$*" in *" bundle "*) step evidence ;; esac
            env -u GPUWARDEN_RUN setsid "$@" &
            echo $! >unit.pid
            wait $!
            """;

    private static final String NVIDIA_SMI = STEP + """
            case "$*" in
                *"-pm 0") name=off ;;
                *"-pm 1") name=on ;;
                *) name=reset; exec 9>reset.lock; flock -n 9 || echo "two resets" >>violations ;;
            esac
            step before-$name
            [ $name = on ] && [ -e slow ] && sleep 5
            echo $name >>log
            SMI "$@"
            code=$?
            step after-$name
            exit $code
            """;

    @TempDir
    Path folder;

    private SimulatedNode node;

    @BeforeEach
    void begin() throws IOException {
        node = SimulatedNode.start("l4x4");
        Files.writeString(folder.resolve("llama"), "active\n");
        Files.writeString(folder.resolve("reset.lock"), "");
        script("systemctl", SYSTEMCTL);
        script("systemd-run", SYSTEMD_RUN);
        script("nvidia-smi", NVIDIA_SMI);
    }

    @AfterEach
    void end() {
        node.close();
    }

    private void script(String name, String text) throws IOException {
        Path file = Files.writeString(
                folder.resolve(name),
                text.replace("FOLDER", folder.toString())
                        .replace("SMI", node.nvidiaSmi().toString()));
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    private RunningDaemon daemon(RepairProcess process, String... more) throws IOException {
        Map<String, String> environment = new HashMap<>(node.environment());
        environment.put("PATH", folder + ":" + System.getenv("PATH"));
        environment.put("GPUWARDEN_SIM_ROOT", "1");
        environment.put("GPUWARDEN_CHECK_ONLY", "gpu-state");
        environment.put(
                "GPUWARDEN_RESET_NVIDIA_SMI", folder.resolve("nvidia-smi").toString());
        List<String> options = new ArrayList<>(List.of(
                "--repair.mode=armed",
                "--repair.settle=1s",
                "--repair.patience=1s",
                "--repair.stop-units=llama.service",
                "--repair.reset-as=" + process));
        options.addAll(List.of(more));
        RunningDaemon daemon = RunningDaemon.start(environment, node, options.toArray(String[]::new));
        Files.writeString(
                folder.resolve("daemon.pid"), Long.toString(daemon.process().pid()));
        return daemon;
    }

    private void breakGpu() {
        logXid("48, pid='<unknown>', name=<unknown>, An uncorrectable double bit error (DBE) has been detected");
        node.set("gpu.1.state", "reset-required");
    }

    private void logXid(String text) {
        int bus = (int) node.control().table().number("gpu[1].pci_bus");
        node.logKernel(String.format("NVRM: Xid (PCI:0000:%02x:00): %s", bus, text));
    }

    /**
     * @param signal to the daemon
     * @param both true to kill gpu-reset too
     */
    record Kill(String step, RepairProcess process, String signal, boolean both) {}

    static Stream<Kill> kills() {
        List<Kill> all = new ArrayList<>();
        for (RepairProcess process : RepairProcess.values()) {
            for (String step : STEPS) {
                all.add(new Kill(step, process, "KILL", false));
                all.add(new Kill(step, process, "TERM", false));
                if (step.matches(".*-(off|reset|on)")) {
                    all.add(new Kill(step, process, "KILL", true));
                }
            }
        }
        String chosen = System.getProperty("gpuwarden.kills", ".*before-reset.*child.*KILL.*true.*");
        return all.stream().filter(kill -> kill.toString().matches(chosen));
    }

    @ParameterizedTest
    @MethodSource("kills")
    void repairOfAKilledDaemonComesToItsEnd(Kill kill) throws Exception {
        String step = kill.step();
        RepairProcess process = kill.process();
        Files.writeString(folder.resolve("step"), step);
        Files.writeString(folder.resolve("signal"), kill.signal());
        if (kill.both()) {
            Files.createFile(folder.resolve("both"));
        }
        RunningDaemon first = daemon(process);
        breakGpu();
        if (step.equals("release")) {
            Await.until(this::isResetRunning, "gpu-reset runs");
            var unused = kill.signal().equals("TERM")
                    ? first.process().toHandle().destroy()
                    : first.process().toHandle().destroyForcibly();
        }
        Await.until(() -> !first.process().isAlive(), "the daemon ends at the step " + step);

        RunningDaemon next = daemon(process);
        String metrics = next.awaitMetrics(this::isEnd);
        next.stop();
        assertThat(folder.resolve("violations")).doesNotExist();
        List<String> order = Files.readAllLines(folder.resolve("log"));
        // A repair that was cut off is tried again, and stops the unit again.
        assertThat(String.join(" ", order))
                .as("no reset while the unit runs")
                .doesNotContainPattern("start( on)* (off|reset)");
        assertThat(RepairLog.read(node.root().resolve("events-repairs.jsonl")))
                .hasSizeBetween(1, 2)
                .allSatisfy(attempt -> assertThat(attempt.end()).isPresent());
        assertThat(node.control().gpus().get(1).fit()
                        || metrics.contains("gpuwarden_repair_state{state=\"operator\"} 1.0"))
                .as("the GPU is repaired, or an operator reads when the reset is tried again")
                .isTrue();
    }

    @ParameterizedTest
    @EnumSource(RepairProcess.class)
    void stopLeavesNoUnitStoppedWhereNoDaemonComes(RepairProcess process) throws Exception {
        Files.writeString(folder.resolve("step"), "before-reset");
        Files.writeString(folder.resolve("signal"), "TERM");
        Files.createFile(folder.resolve("group"));
        // The undo takes longer than a daemon has that repairs nothing.
        Files.createFile(folder.resolve("slow"));
        RunningDaemon daemon = daemon(process);
        breakGpu();
        Await.until(() -> !daemon.process().isAlive(), "the daemon ends");

        Await.until(() -> isActive() && !isResetRunning(), "the unit starts");
        List<String> order = Files.readAllLines(folder.resolve("log"));
        assertThat(order).as("after the undo").endsWith("on", "start").containsOnlyOnce("start");
        assertThat(RepairLog.read(node.root().resolve("events-repairs.jsonl")))
                .singleElement()
                .satisfies(attempt -> assertThat(attempt.ended(RepairAttempt.Outcome.FAILED))
                        .as("a stop is no failure of the GPU, which would lead to a reboot")
                        .isFalse());
        assertThat(node.control().table().number("gpu[1].persistence")).isEqualTo(1);
    }

    @Test
    void stopInTheEvidenceBeforeARebootEndsWithoutTheReboot() throws Exception {
        Files.writeString(folder.resolve("step"), "evidence");
        Files.createFile(folder.resolve("group"));
        RunningDaemon daemon = daemon(RepairProcess.unit, "--repair.reboot=always");
        logXid("79, GPU has fallen off the bus.");
        Await.until(() -> !daemon.process().isAlive(), "the daemon ends");

        assertThat(folder.resolve("killed")).as("in the evidence").exists();
        assertThat(Files.readAllLines(folder.resolve("log"))).containsExactly("stop", "start");
        assertThat(isActive()).isTrue();
    }

    private boolean isResetRunning() {
        return ProcessHandle.allProcesses()
                .anyMatch(process -> process.info()
                        .commandLine()
                        .filter(line -> line.contains("gpu-reset")
                                && line.contains(node.root().toString()))
                        .isPresent());
    }

    /** Nothing runs any more, and nothing is left behind. */
    private boolean isEnd(String metrics) {
        boolean still = Stream.of("idle", "operator")
                .anyMatch(state -> metrics.contains("gpuwarden_repair_state{state=\"" + state + "\"} 1.0"));
        return still
                && !isResetRunning()
                && isActive()
                && node.control().table().number("gpu[1].persistence") == 1
                && !Files.exists(
                        Path.of(node.environment().get("GPUWARDEN_RESET_STATE"), "gpu-reset-persistence.json"));
    }

    private boolean isActive() {
        try {
            return Files.readString(folder.resolve("llama")).equals("active\n");
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }
}
