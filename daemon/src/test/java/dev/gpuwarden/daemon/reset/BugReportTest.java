package dev.gpuwarden.daemon.reset;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.model.Reading;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests with programs in the place of the driver's own. */
@Tag("programs")
class BugReportTest {

    @TempDir
    Path folder;

    private Path scratch;
    private Path smi;

    @BeforeEach
    void begin() throws IOException {
        scratch = Files.createDirectory(folder.resolve("scratch"));
        smi = folder.resolve("nvidia-smi");
    }

    private void program(String text) throws IOException {
        Path file = smi.resolveSibling("nvidia-bug-report.sh");
        Files.writeString(file, "#!/bin/sh\n" + text + "\n");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    private String missing(Duration longest) throws InterruptedException {
        Reading<Path> seen = new BugReport(DriverRoot.of(smi), longest).run(scratch);
        return seen instanceof Reading.Absent<Path> absent ? absent.detail() : "seen " + seen;
    }

    @Test
    void fileOfTheProgramIsReturned() throws Exception {
        program("[ \"$1$2$3\" = --safe-mode--extra-system-data--output-file ] && echo report > \"$4.gz\"");
        Path file = new BugReport(DriverRoot.of(smi), Duration.ofSeconds(10))
                .run(scratch)
                .asOptional()
                .orElseThrow();
        assertThat(file).isEqualTo(scratch.resolve("nvidia-bug-report.log.gz"));
        assertThat(Files.readString(file)).isEqualTo("report\n");
    }

    @Test
    void missingFileHasItsCause() throws Exception {
        assertThat(missing(Duration.ofSeconds(10))).isEqualTo("nvidia-bug-report.sh is absent beside nvidia-smi");
        program("echo ERROR: Please run as root; exit 1");
        assertThat(missing(Duration.ofSeconds(10)))
                .isEqualTo("nvidia-bug-report.sh wrote no file: ERROR: Please run as root");
        program("sleep 60");
        assertThat(missing(Duration.ofMillis(300))).isEqualTo("nvidia-bug-report.sh did not end within 300ms");
        program("truncate -s 33M \"$4\"");
        assertThat(missing(Duration.ofSeconds(10))).contains("wrote 34603008 bytes, expected at most 33554432");
    }

    @Test
    void placesAreThoseOfTheDriversRoot() {
        DriverRoot container =
                new DriverRoot(Path.of("/usr/bin/nvidia-smi"), Path.of("/host/run/nvidia/driver"), Optional.empty());
        DriverRoot host = new DriverRoot(Path.of("/usr/bin/nvidia-smi"), Path.of("/host"), Optional.empty());
        Path bundles = Path.of("/host/var/lib/gpuwarden/bundles");
        assertThat(container.scratchFor(bundles)).isEqualTo(Path.of("/host/run/nvidia/driver/tmp"));
        assertThat(container.inside(Path.of("/host/run/nvidia/driver/tmp/x"))).isEqualTo(Path.of("/tmp/x"));
        assertThat(host.scratchFor(bundles)).isEqualTo(bundles);
        assertThat(host.inside(bundles)).isEqualTo(Path.of("/var/lib/gpuwarden/bundles"));
        assertThat(DriverRoot.onHost(bundles)).isEqualTo(Path.of("/var/lib/gpuwarden/bundles"));
        assertThat(DriverRoot.onHost(Path.of("/var/b"))).isEqualTo(Path.of("/var/b"));
        assertThat(container.command("nvidia-bug-report.sh", List.of("-h")))
                .containsExactly("chroot", "/host/run/nvidia/driver", "/usr/bin/nvidia-bug-report.sh", "-h");
    }
}
