package dev.gpuwarden.daemon.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.testkit.Await;
import dev.gpuwarden.testkit.sim.SimulatedNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A daemon that is killed leaves no program behind: not the check of a child process, no script, and not the reader of the journal. */
@Tag("programs")
class ChildrenEndWithDaemonTest {

    private static final String SLOW = """
            driver: 550
            gpus: [{profile: l4, count: 1}]
            faults: [{name: slow, function: cuLaunchKernel, delay: 500ms}]
            """;

    @TempDir
    Path folder;

    private Path script(String name, String... lines) throws IOException {
        Path file = folder.resolve(name);
        Files.createDirectories(file.getParent());
        Files.writeString(file, "#!/bin/sh\n" + String.join("\n", lines) + "\n");
        return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    private static String commandLine(ProcessHandle process) {
        try {
            return Files.readString(Path.of("/proc", Long.toString(process.pid()), "cmdline"))
                    .replace('\0', ' ');
        } catch (IOException e) {
            return "";
        }
    }

    private static boolean runs(ProcessHandle process) {
        try {
            return process.isAlive()
                    && !Files.readString(Path.of("/proc", Long.toString(process.pid()), "stat"))
                            .contains(") Z ");
        } catch (IOException e) {
            return false;
        }
    }

    private static boolean has(List<ProcessHandle> processes, String words) {
        return processes.stream().anyMatch(process -> commandLine(process).contains(words));
    }

    @Test
    void killedDaemonLeavesNoProgramBehind() throws IOException {
        script("checks.d/endless.sh", "# gpuwarden: every=1s, timeout=100s", "sleep 1001");
        script(
                "bin/journalctl",
                "case \"$*\" in",
                "*--follow*) exec sleep 1002 ;;",
                "*) echo '{\"__CURSOR\":\"s=1;i=1\"}' ;;",
                "esac");
        Path scenario = Files.writeString(folder.resolve("slow.yaml"), SLOW);
        Map<String, String> path = Map.of("PATH", folder.resolve("bin") + ":" + System.getenv("PATH"));
        try (SimulatedNode node = SimulatedNode.start(scenario.toString())) {
            RunningDaemon daemon = RunningDaemon.start(
                    path,
                    node,
                    "--kernel-log.source=journald",
                    "--check.scripts=" + folder.resolve("checks.d"),
                    "--check.load=invasive",
                    "--check.interval=gpu-results=1s");
            try {
                Await.until(
                        () -> {
                            List<ProcessHandle> now =
                                    daemon.process().descendants().toList();
                            return has(now, "check gpu-results --local")
                                    && has(now, "sleep 1001")
                                    && has(now, "sleep 1002");
                        },
                        () -> daemon.process()
                                .descendants()
                                .map(ChildrenEndWithDaemonTest::commandLine)
                                .toList()
                                .toString());
                List<ProcessHandle> children = daemon.process().descendants().toList();
                assertThat(children).hasSizeGreaterThan(5);
                daemon.process().destroyForcibly();
                Await.until(
                        () -> children.stream().noneMatch(ChildrenEndWithDaemonTest::runs),
                        () -> "left: "
                                + children.stream()
                                        .filter(ChildrenEndWithDaemonTest::runs)
                                        .map(ChildrenEndWithDaemonTest::commandLine)
                                        .toList());
            } finally {
                daemon.process().destroyForcibly();
            }
        }
    }
}
