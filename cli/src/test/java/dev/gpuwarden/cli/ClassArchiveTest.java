package dev.gpuwarden.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

class ClassArchiveTest {

    private static final String OWN = "7f00 r--p 00000000 08:01 42                 /opt/a b/lib/commands.jsa";

    @Test
    void isInUseWhereItsFileIsMapped() {
        assertThat(archive(OWN).inUse()).isTrue();
        assertThat(archive(OWN.replace("commands.jsa", "gpuwarden-cli.jar")).inUse())
                .isFalse();
        assertThat(archive(OWN.replace("/opt/a b/", "/opt/jdk/")).inUse()).isFalse();
        assertThat(archive().inUse()).isFalse();
    }

    @Test
    void nothingIsReportedOutsideAnImage() {
        assertThat(ClassArchive.ofProcess()).isEmpty();
    }

    @Test
    void adviceIsACommand() {
        assertThat(archive().advice()).endsWith(": '/opt/a b/bin/gpuwarden-optimise'");
    }

    private static ClassArchive archive(String... mapped) {
        return new ClassArchive(Path.of("/opt/a b"), List.of(mapped));
    }
}
