package dev.gpuwarden.daemon.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.daemon.app.ChildJvm;
import dev.gpuwarden.daemon.app.RunningDaemon;
import dev.gpuwarden.testkit.Await;
import dev.gpuwarden.testkit.scenario.Generation;
import dev.gpuwarden.testkit.sim.SimulatedNode;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An upgrade of the driver by a program, with a real daemon. */
@Tag("programs")
class ReleaseDriverCommandTest {

    @TempDir
    Path folder;

    @Test
    void driverIsUpgradedWhileAProgramRunsAndTheDaemonReadsTheNewOne() throws Exception {
        try (SimulatedNode node = SimulatedNode.start("l4x4")) {
            upgrade(node);
        }
    }

    private void upgrade(SimulatedNode node) throws Exception {
        RunningDaemon daemon = RunningDaemon.start(
                node,
                "--path.devices=" + node.devices(),
                "--check.only=driver,gpu-state",
                "--check.interval=driver=1s");
        daemon.awaitMetrics(metrics -> metrics.contains("driver_version=\"550.163.01\""));
        daemon.awaitMetrics(ReleaseDriverCommandTest::answers);
        Path installed = folder.resolve("installed");
        Path begun = folder.resolve("begun");
        ProcessBuilder builder = ChildJvm.gpuwarden(List.of(
                "release-driver",
                "--grpc.socket=" + node.root().resolve("gpuwarden.sock"),
                "--",
                "sh",
                "-c",
                "touch " + begun + "; until [ -e " + installed + " ]; do sleep 0.05; done; exit 7"));
        builder.environment().putAll(node.environment());
        Process upgrade = builder.inheritIO().start();
        Await.until(() -> Files.exists(begun), "the driver is released");
        assertThat(openFiles(daemon.process().pid())).noneMatch(file -> file.contains("nvidia"));
        // The loader returns a library that is still loaded, and does not open the new file of that name.
        assertThat(Files.readString(Path.of("/proc/" + daemon.process().pid() + "/maps")))
                .doesNotContain("libnvidia-ml", "libcuda");
        node.installDriver(Generation.D580);
        Files.createFile(installed);
        assertThat(upgrade.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(upgrade.exitValue()).isEqualTo(7);
        List<String> faults = new ArrayList<>();
        daemon.awaitMetrics(metrics -> {
            metrics.lines().filter(line -> line.startsWith("gpuwarden_faults{")).forEach(faults::add);
            return metrics.contains("driver_version=\"580.82.07\"");
        });
        daemon.awaitMetrics(ReleaseDriverCommandTest::answers);
        assertThat(faults).isEmpty();
        daemon.stop();
    }

    private static boolean answers(String metrics) {
        return metrics.contains("gpuwarden_gpu_state{gpu=\"0\",state=\"answering\",");
    }

    private static List<String> openFiles(long pid) throws IOException {
        List<String> files = new ArrayList<>();
        try (DirectoryStream<Path> open = Files.newDirectoryStream(Path.of("/proc/" + pid + "/fd"))) {
            for (Path link : open) {
                try {
                    files.add(Files.readSymbolicLink(link).toString());
                } catch (NoSuchFileException e) {
                    // Closed since the listing.
                }
            }
        }
        return files;
    }
}
