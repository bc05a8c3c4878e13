package dev.gpuwarden.packaging;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SystemdUnitImageTest {

    private static final String INSTALLED = "/opt/gpuwarden";

    @Test
    void systemdUnderstandsEveryLine(@TempDir Path folder) throws Exception {
        assumeTrue(
                Files.isExecutable(Path.of("/usr/bin/systemd-analyze")),
                "expected systemd-analyze, found none, so the unit was not verified (Debian package systemd)");
        Path unit = Path.of(System.getProperty("gpuwarden.repository"), "systemd/gpuwarden.service");
        String text = Files.readString(unit);
        assertThat(text).contains(INSTALLED);
        // systemd-analyze verify expects the program to exist.
        Path here = Files.writeString(
                folder.resolve("gpuwarden.service"),
                text.replace(
                        "ExecStart=" + INSTALLED,
                        "ExecStart=" + Image.built().home().toString().replace(" ", "\\x20")));
        // The drop-ins are where `systemctl edit` puts them.
        Path dropIns = Files.createDirectories(folder.resolve("gpuwarden.service.d"));
        try (var shipped = Files.list(unit.resolveSibling("drop-ins"))) {
            for (Path file : shipped.toList()) {
                Files.copy(file, dropIns.resolve(file.getFileName()));
            }
        }
        Process verify = new ProcessBuilder("systemd-analyze", "verify", here.toString())
                .redirectErrorStream(true)
                .start();
        String said = new String(verify.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(verify.waitFor()).as(said).isZero();
        assertThat(said).doesNotContain("gpuwarden.service");
    }
}
