package dev.gpuwarden.checks.script;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.checks.CheckContexts;
import dev.gpuwarden.checks.child.Programs;
import dev.gpuwarden.checks.node.NodePaths;
import dev.gpuwarden.core.check.CheckContext;
import dev.gpuwarden.core.check.HealthCheck;
import dev.gpuwarden.core.check.Limits;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Outcome;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.node.NodeSnapshot.DriverState;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ScriptChecksTest {

    @TempDir
    Path folder;

    private CheckContext context() {
        NodeSnapshot node = new NodeSnapshot(new DriverState.Opening(), Reading.of(List.of()), List.of());
        return CheckContexts.context(node, NodePaths.of(folder, folder, folder), Limits.NONE);
    }

    private List<HealthCheck> load(String... taken) {
        return ScriptCheck.load(folder, Set.of(taken), "node-7", new ChildSlots());
    }

    private static List<String> ids(List<HealthCheck> checks) {
        return checks.stream().map(check -> check.info().id()).toList();
    }

    @Test
    void missingFolderHasNoChecks() {
        assertThat(ScriptCheck.load(folder.resolve("none"), Set.of(), "n", new ChildSlots()))
                .isEmpty();
    }

    @Test
    void onlyExecutableScriptsAreChecks() throws Exception {
        Programs.script(folder.resolve("a.sh"), "exit 0");
        Programs.script(folder.resolve("b.sh~"), "exit 0");
        Programs.script(folder.resolve(".c.sh"), "exit 0");
        Programs.script(folder.resolve("d.sh.dpkg-old"), "exit 0");
        Programs.file(folder.resolve("README.md"), "rw-r--r--", "Checks of ours.\n");
        Programs.file(folder.resolve("forgotten.sh"), "rw-r--r--", "#!/bin/sh\nexit 0\n");
        Files.createDirectory(folder.resolve("lib"));
        List<HealthCheck> checks = load();
        assertThat(ids(checks)).containsExactly("a", "forgotten");
        assertThat(checks.get(1).run(context())).singleElement().satisfies(finding -> {
            assertThat(finding.outcome()).isEqualTo(Outcome.UNKNOWN);
            assertThat(finding.message()).endsWith("forgotten.sh is not executable; it does not run");
        });
    }

    @Test
    void headerSetsTheSettings() {
        Programs.script(
                folder.resolve("a.sh"), "# gpuwarden: id=scratch, every=5m, timeout=3s, component=DISK", "exit 0");
        HealthCheck check = load().get(0);
        assertThat(check.info().id()).isEqualTo("scratch");
        assertThat(check.info().componentClass()).isEqualTo("DISK");
        assertThat(check.info().every()).isEqualTo(Duration.ofMinutes(5));
        assertThat(check.deadline()).isGreaterThan(Duration.ofSeconds(3));
    }

    @Test
    void scriptEnvironmentHasTheNodeAndNoSecrets() {
        Programs.script(
                folder.resolve("a.sh"), "[ -z \"$HOME$USER\" ] && echo $NODE_NAME $GPUWARDEN_SYSFS $GPUWARDEN_PROCFS");
        assertThat(load().get(0).run(context()))
                .singleElement()
                .extracting(Finding::message)
                .isEqualTo("node-7 " + folder + " " + folder);
    }

    @Test
    void scriptWithATakenIdOrBadHeaderDoesNotRun() {
        Programs.script(folder.resolve("a.sh"), "# gpuwarden: id=gpu-count", "touch " + folder + "/ran");
        Programs.script(folder.resolve("b.sh"), "# gpuwarden: id=b, evry=3s", "touch " + folder + "/ran");
        Programs.script(folder.resolve("c.sh"), "# gpuwarden: id=b", "touch " + folder + "/ran");
        List<HealthCheck> checks = load("gpu-count");
        assertThat(ids(checks)).containsExactly("script-gpu-count-2", "b", "script-b-2");
        assertThat(checks)
                .allSatisfy(check -> assertThat(check.run(context()))
                        .singleElement()
                        .extracting(Finding::outcome)
                        .isEqualTo(Outcome.UNKNOWN));
        assertThat(folder.resolve("ran")).doesNotExist();
    }

    @Test
    void scriptWritableByOthersDoesNotRun() {
        Programs.file(folder.resolve("a.sh"), "rwxrwxrwx", "#!/bin/sh\ntouch " + folder + "/ran\n");
        assertThat(load().get(0).run(context()))
                .singleElement()
                .extracting(Finding::message)
                .asString()
                .startsWith(folder.resolve("a.sh") + " users other than its owner may write to; it belongs to user ")
                .endsWith(" (mode 0777); it does not run");
        assertThat(folder.resolve("ran")).doesNotExist();
    }

    @Test
    void hangingScriptIsUnknown() {
        Programs.script(
                folder.resolve("a.sh"), "# gpuwarden: timeout=1s", "echo '{\"message\": \"fine\"}'; sleep 1000");
        assertThat(load().get(0).run(context())).singleElement().satisfies(finding -> {
            assertThat(finding.outcome()).isEqualTo(Outcome.UNKNOWN);
            assertThat(finding.message()).startsWith("a.sh did not end within 1s, and was cut off");
        });
    }

    @Test
    void deletedScriptIsUnknown() throws Exception {
        Path file = Programs.script(folder.resolve("a.sh"), "exit 0");
        HealthCheck check = load().get(0);
        assertThat(check.run(context())).extracting(Finding::outcome).containsExactly(Outcome.PASS);
        Files.delete(file);
        assertThat(check.run(context())).extracting(Finding::outcome).containsExactly(Outcome.UNKNOWN);
    }

    @Test
    void atMostTwoScriptsRunConcurrently() throws Exception {
        for (int i = 0; i < 6; i++) {
            Programs.script(
                    folder.resolve("c" + i + ".sh"),
                    "mkdir " + folder + "/run" + i,
                    "ls -d " + folder + "/run* | wc -l >>" + folder + "/counts",
                    "sleep 0.1",
                    "rmdir " + folder + "/run" + i);
        }
        List<HealthCheck> checks = load();
        Thread[] threads = IntStream.range(0, 6)
                .mapToObj(i -> new Thread(() -> checks.get(i).run(context())))
                .toArray(Thread[]::new);
        for (Thread thread : threads) {
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        assertThat(Files.readAllLines(folder.resolve("counts")))
                .hasSize(6)
                .allSatisfy(count -> assertThat(Integer.parseInt(count.strip())).isBetween(1, 2))
                .contains("2");
    }

    @Test
    void scriptsBeyondTheBoundDoNotRun() {
        for (int i = 0; i < 120; i++) {
            Programs.script(folder.resolve("check-" + i + ".sh"), "exit 0");
        }
        assertThat(load()).hasSize(100);
    }
}
