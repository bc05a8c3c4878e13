package dev.gpuwarden.daemon.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.checks.process.NodeTree;
import dev.gpuwarden.checks.process.PodProcesses;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.port.ProcessSignals;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PodSignalsTest {

    private static final String POD = "11111111-1111-1111-1111-111111111111";
    private static final String OTHER = "22222222-2222-2222-2222-222222222222";

    @TempDir
    Path root;

    private final List<String> sent = new ArrayList<>();
    private Runnable whenHeld = () -> {};
    private NodeTree node;

    @BeforeEach
    void prepare() {
        node = new NodeTree(root)
                .process(1, 1, "systemd", "0::/init.scope")
                .process(40, 400, "pause", cgroup(POD, "0"))
                .process(41, 410, "python", cgroup(POD, "a"))
                .process(42, 900, "bash", cgroup(POD, "a"))
                .process(43, 430, "nginx", cgroup(POD, "b"))
                .process(50, 500, "python", cgroup(OTHER, "c"));
    }

    private static String cgroup(String pod, String container) {
        return "0::/kubepods/burstable/pod" + pod + "/" + container.repeat(64);
    }

    private PodSignals signals(boolean on) {
        ProcessSignals recorder = pid -> {
            if (pid == 43 && sent.contains("fail")) {
                return Reading.absent(Absence.NO_DATA, 0, "no such process");
            }
            return Reading.of(new ProcessSignals.Target() {
                {
                    whenHeld.run();
                }

                @Override
                public Optional<String> send(int signal) {
                    sent.add(pid + ":" + signal);
                    return Optional.empty();
                }

                @Override
                public void close() {}
            });
        };
        return new PodSignals(on, new PodProcesses(node.paths().procfs()), () -> recorder);
    }

    @Test
    void theMainProcessOfEachContainerOfThatPodGetsIt() {
        assertThat(signals(true).send("r1", POD, "SIGUSR1")).isEqualTo(new PodSignals.Answer(2, ""));
        assertThat(sent).containsExactly("41:10", "43:10");
    }

    @Test
    void aRequestThatComesAgainSendsNothingAgain() {
        PodSignals signals = signals(true);
        PodSignals.Answer first = signals.send("r1", POD, "SIGUSR1");
        assertThat(signals.send("r1", POD, "SIGUSR1")).isEqualTo(first);
        assertThat(sent).hasSize(2);
        var unused = signals.send("r2", POD, "SIGUSR1");
        assertThat(sent).hasSize(4);
    }

    @Test
    void nothingIsSentWhereItIsOffOrNotForPodsToAskFor() {
        assertThat(signals(false).send("r1", POD, "SIGUSR1").error()).contains("--checkpoint.signal=on");
        for (String signal : List.of("SIGKILL", "SIGSTOP", "9", "USR1", "sigusr1", "")) {
            assertThat(signals(true).send("r1", POD, signal).error()).contains("SIGUSR1");
        }
        for (String uid : List.of("", "*", "..", POD + "/../" + OTHER, POD.substring(1))) {
            assertThat(signals(true).send("r1", uid, "SIGUSR1").error()).contains("UID of a pod");
        }
        assertThat(signals(true).send("r1", POD.replace('1', '9'), "SIGUSR1").error())
                .isEqualTo("no process of this pod runs here");
        assertThat(sent).isEmpty();
    }

    @Test
    void anotherProcessOfTheSameNumberIsLeftAlone() {
        whenHeld = () -> node.process(41, 99_000, "sshd", "0::/system.slice/ssh.service");
        PodSignals.Answer answer = signals(true).send("r1", POD, "SIGUSR1");
        assertThat(sent).containsExactly("43:10");
        assertThat(answer).isEqualTo(new PodSignals.Answer(1, "process 41: it has ended"));
    }

    @Test
    void endedProcessesAreNamed() {
        sent.add("fail");
        assertThat(signals(true).send("r1", POD, "SIGTERM"))
                .isEqualTo(new PodSignals.Answer(1, "process 43: no such process: no data"));
    }

    @Test
    void inAPidNamespaceVisiblePodsAreSignalledAndOthersAreNotReportedGone() throws IOException {
        Path self = Files.createDirectories(node.paths().procfs().resolve("self/ns"));
        Files.createSymbolicLink(self.resolve("pid"), Path.of("pid:[4026532999]"));
        Files.createDirectories(node.paths().procfs().resolve("1"));
        assertThat(signals(true).send("r1", POD, "SIGUSR1").error()).isEmpty();
        assertThat(signals(true).send("r2", POD.replace('1', '9'), "SIGUSR1").error())
                .contains("hostPID");
    }
}
