package dev.gpuwarden.checks;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.checks.history.BootNotes;
import dev.gpuwarden.checks.node.NodePaths;
import dev.gpuwarden.core.health.Snapshots;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.port.Opening.Reason;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NodeBootTest {

    private static final NodeSnapshot RUNNING = Snapshots.running(1, Snapshots.healthy(0));
    private static final NodeSnapshot NOT_LOADED = Snapshots.without(Reason.DRIVER_NOT_LOADED, 9, Snapshots.bus(1));

    @TempDir
    Path folder;

    private long nanos;

    @BeforeEach
    void oldNode() throws IOException {
        uptime(86_400);
    }

    private void uptime(long seconds) throws IOException {
        Files.writeString(folder.resolve("uptime"), seconds + ".25 1.0\n");
    }

    private NodeBoot boot(String id) {
        return new NodeBoot(
                Duration.ofMinutes(10),
                NodePaths.of(folder, folder, folder),
                new BootNotes(Optional.of(folder.resolve("boot.tsv")), id),
                () -> nanos);
    }

    private NodeBoot withoutFile() {
        return new NodeBoot(
                Duration.ofMinutes(10),
                NodePaths.of(folder, folder, folder),
                new BootNotes(Optional.empty(), "a"),
                () -> nanos);
    }

    @Test
    void nodeIsYoungForTenMinutesAfterItsBoot() throws IOException {
        uptime(60);
        NodeBoot boot = withoutFile();
        assertThat(boot.young()).contains("the node started less than 10 minutes ago");
        uptime(600);
        assertThat(boot.young()).isEmpty();
    }

    @Test
    void ageGrowsEvenIfTheFileDoesNotChange() throws IOException {
        uptime(60);
        NodeBoot boot = withoutFile();
        nanos += Duration.ofMinutes(9).toNanos();
        assertThat(boot.young()).isEmpty();
    }

    @Test
    void nodeOfUnknownAgeIsNotYoung() throws IOException {
        Files.delete(folder.resolve("uptime"));
        NodeBoot boot = boot("a");
        boot.observe(NOT_LOADED);
        boot.observe(RUNNING);
        assertThat(boot.young()).isEmpty();
    }

    @Test
    void restartOfTheDaemonMakesNothingYoung() throws IOException {
        NodeBoot first = boot("a");
        assertThat(first.young()).contains("the daemon saw this boot for the first time less than 10 minutes ago");
        first.keep();
        uptime(87_000);
        assertThat(boot("a").young()).isEmpty();
        assertThat(boot("b").young()).as("another boot").isPresent();
        assertThat(withoutFile().young()).as("it would be so at each restart").isEmpty();
    }

    @Test
    void driverThatComesIsYoung() throws IOException {
        NodeBoot boot = withoutFile();
        boot.observe(RUNNING);
        assertThat(boot.young()).as("it was there before").isEmpty();
        boot.notes("gpu-nvlink").put("GPU-a", 15L);
        boot.observe(NOT_LOADED);
        boot.observe(RUNNING);
        assertThat(boot.young()).contains("the driver was loaded less than 10 minutes ago");
        assertThat(boot.notes("gpu-nvlink")).as("links train again").isEmpty();
        uptime(87_000);
        assertThat(boot.young()).isEmpty();
    }

    @Test
    void driverThatWasLoadedAgainWhileTheDaemonWasDownIsYoung() throws IOException {
        Files.createDirectories(folder.resolve("module/nvidia"));
        NodeBoot before = boot("a");
        before.observe(RUNNING);
        before.keep();
        uptime(87_000);
        NodeBoot same = boot("a");
        same.observe(RUNNING);
        assertThat(same.young()).isEmpty();
        same.keep();
        // The old folder is kept, so that the file system cannot use its inode again.
        Files.move(folder.resolve("module/nvidia"), folder.resolve("module/old"));
        Files.createDirectories(folder.resolve("module/nvidia"));
        NodeBoot after = boot("a");
        after.observe(RUNNING);
        assertThat(after.young()).contains("the driver was loaded less than 10 minutes ago");
    }

    @Test
    void notesLastUntilTheNextBoot() {
        NodeBoot boot = boot("a");
        boot.notes("nic-link").put("up 0000:10:00.0/1", 1L);
        boot.notes("nic-link").put("not\tplain", 1L);
        boot.keep();
        assertThat(boot("a").notes("nic-link")).containsExactly(java.util.Map.entry("up 0000:10:00.0/1", 1L));
        assertThat(boot("b").notes("nic-link")).isEmpty();
    }

    @Test
    void aFileThatIsWrongCountsAsNone() throws IOException {
        Files.writeString(folder.resolve("boot.tsv"), "a\nx\nnic-link\tup\tmany\nnic-link\tup 1\t1\n");
        assertThat(boot("a").notes("nic-link")).containsOnlyKeys("up 1");
        Files.write(folder.resolve("boot.tsv"), new byte[] {(byte) 0xff, 0, 1});
        assertThat(boot("a").notes("nic-link")).isEmpty();
    }

    @Test
    void notesAreBounded() {
        NodeBoot boot = boot("a");
        for (int i = 0; i < 2 * BootNotes.MOST_NOTES; i++) {
            boot.notes("nic-link").put("up " + i, 1L);
        }
        boot.keep();
        assertThat(boot("a").notes("nic-link")).hasSizeLessThanOrEqualTo(BootNotes.MOST_NOTES);
    }
}
