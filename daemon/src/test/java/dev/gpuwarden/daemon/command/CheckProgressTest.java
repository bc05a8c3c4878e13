package dev.gpuwarden.daemon.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.testkit.sim.SimulatedNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A slow check, run by this process. */
class CheckProgressTest {

    @Test
    void aLongRunReportsItsProgressOnStandardErrorAlone(@TempDir Path folder) throws IOException {
        Path script = folder.resolve("slow.sh");
        Files.writeString(script, "#!/bin/sh\nsleep 4\n");
        Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwxr-xr-x"));
        try (SimulatedNode node = SimulatedNode.start("t4")) {
            Program check = Program.run(node, "check", "driver", "slow", "-o", "json", "--check.scripts=" + folder);
            assertThat(check.exitCode()).as(check.out()).isZero();
            assertThat(check.err()).matches("gpuwarden: 1 of 2 checks ended; slow for [1-4] s\n");
            assertThat(check.out()).startsWith("{").doesNotContain("checks ended");
        }
    }
}
