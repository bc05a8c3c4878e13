package dev.gpuwarden.daemon.reset;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gpuwarden.daemon.reset.EvidenceFolder.Entry;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EvidenceFolderTest {

    private static final Instant BEGIN = Instant.parse("2026-11-22T06:00:00Z");

    @TempDir
    Path folder;

    private static List<Entry> entries(int bytes) {
        byte[] noise = new byte[bytes];
        new Random(1).nextBytes(noise);
        return List.of(new Entry("noise", () -> new ByteArrayInputStream(noise)));
    }

    private static List<String> names(Path in) throws IOException {
        try (Stream<Path> all = Files.list(in)) {
            return all.map(file -> file.getFileName().toString()).sorted().toList();
        }
    }

    @Test
    void oldestAreRemovedByNumberAndOthersStay() throws IOException {
        Path bundles = folder.resolve("state/bundles");
        EvidenceFolder evidence = EvidenceFolder.of(bundles);
        for (int i = 0; i < EvidenceFolder.MOST + 2; i++) {
            evidence.write("gpu-reset-", Optional.empty(), BEGIN.plusSeconds(i), entries(10));
            Files.writeString(bundles.resolve("notes"), "of an operator");
        }
        assertThat(names(bundles))
                .hasSize(EvidenceFolder.MOST + 1)
                .contains("notes", "gpu-reset-20261122T060009.000Z.zip")
                .doesNotContain("gpu-reset-20261122T060001.000Z.zip");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(bundles)))
                .isEqualTo("rwx------");
        assertThat(PosixFilePermissions.toString(
                        Files.getPosixFilePermissions(bundles.resolve("gpu-reset-20261122T060009.000Z.zip"))))
                .isEqualTo("rw-------");
    }

    @Test
    void oldestAreRemovedBySizeAndTheNewestStays() throws IOException {
        EvidenceFolder evidence = new EvidenceFolder(folder, 2500);
        for (int i = 0; i < 3; i++) {
            evidence.write("gpu-reset-", Optional.empty(), BEGIN.plusSeconds(i), entries(1000));
        }
        assertThat(names(folder)).hasSize(2);
        evidence.write("gpu-reset-", Optional.empty(), BEGIN.plusSeconds(9), entries(5000));
        assertThat(names(folder)).containsExactly("gpu-reset-20261122T060009.000Z.zip");
    }

    @Test
    void ageDecidesAndNotTheName() throws IOException {
        EvidenceFolder evidence = EvidenceFolder.of(folder);
        for (int i = 0; i < EvidenceFolder.MOST; i++) {
            evidence.write("bundle-", Optional.of("reboot-" + i), BEGIN.plusSeconds(i), entries(10));
        }
        evidence.write("gpu-reset-", Optional.empty(), BEGIN.plusSeconds(60), entries(10));
        assertThat(names(folder))
                .hasSize(EvidenceFolder.MOST)
                .contains("gpu-reset-20261122T060100.000Z.zip", "bundle-reboot-1.zip")
                .doesNotContain("bundle-reboot-0.zip");
    }

    @Test
    void linksAreNotFollowedAndNoHalfFileStays() throws IOException {
        Path other = Files.createDirectory(folder.resolve("other"));
        Path link = Files.createSymbolicLink(folder.resolve("bundles"), other);
        assertThatThrownBy(() -> EvidenceFolder.of(link).write("gpu-reset-", Optional.empty(), BEGIN, entries(10)))
                .hasMessageContaining("expected a folder, seen another kind of file");
        Files.createSymbolicLink(other.resolve("gpu-reset-20261122T060000.000Z.zip"), folder.resolve("victim"));
        assertThatThrownBy(() -> EvidenceFolder.of(other).write("gpu-reset-", Optional.empty(), BEGIN, entries(10)))
                .isInstanceOf(IOException.class);
        assertThat(folder.resolve("victim")).doesNotExist();
        Entry broken = new Entry("broken", () -> {
            throw new IOException("cannot be read");
        });
        assertThatThrownBy(() -> EvidenceFolder.of(other)
                        .write("gpu-reset-", Optional.empty(), BEGIN.plusSeconds(1), List.of(broken)))
                .hasMessageContaining("cannot be read");
        assertThat(other.resolve("gpu-reset-20261122T060001.000Z.zip")).doesNotExist();
    }
}
