package dev.gpuwarden.checks.child;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FileTrustTest {

    @TempDir
    Path folder;

    @ParameterizedTest
    @CsvSource({
        "rwx------, ''",
        "rwxr-xr-x, ''",
        "r-xr-xr-x, ''",
        "rwxrwxr-x, users other than its owner may write to; it belongs to user %s (mode 0775)",
        "rwxr-xrwx, users other than its owner may write to; it belongs to user %s (mode 0757)",
        "rw-r--r--, is not executable"
    })
    void onlyTheOwnerMayWrite(String permissions, String why) throws IOException {
        Path file = Programs.file(folder.resolve("check"), permissions, "#!/bin/sh\n");
        assertThat(FileTrust.problem(file).orElse("")).isEqualTo(String.format(why, owner(file)));
    }

    @Test
    void fileWritableByOthersIsRefused() throws Exception {
        Path open = Files.createDirectory(folder.resolve("open"));
        Path file = Programs.script(open.resolve("check"), "exit 0");
        Files.setPosixFilePermissions(open, PosixFilePermissions.fromString("rwxrwxrwx"));
        assertThat(FileTrust.problem(file).orElse(""))
                .startsWith("lies in " + open.toRealPath() + ", which users other than its owner may write to; it");
        Path below =
                Programs.script(Files.createDirectories(open.resolve("a/b")).resolve("check"), "exit 0");
        assertThat(FileTrust.problem(below).orElse(""))
                .as("two folders further down")
                .startsWith("lies in " + open.toRealPath() + ", which users");
        Files.setAttribute(open, "unix:mode", 01777);
        assertThat(FileTrust.problem(file)).isEmpty();
    }

    @Test
    void linkIsEvaluatedByItsTarget() throws Exception {
        Path real = Programs.file(folder.resolve("real"), "rwxrwxrwx", "#!/bin/sh\n");
        Path link = Files.createSymbolicLink(folder.resolve("link"), real);
        assertThat(FileTrust.problem(link))
                .hasValueSatisfying(why -> assertThat(why).startsWith("users other than its owner may write to"));
        assertThat(FileTrust.problem(folder.resolve("missing"))).contains("does not exist");
        assertThat(FileTrust.problem(folder)).contains("is not a file");
    }

    @Test
    void filesOfOtherUsersDoNotRun() throws Exception {
        Path file = Programs.script(folder.resolve("check"), "exit 0");
        assumeTrue((Integer) Files.getAttribute(file, "unix:uid") == 0, "only root can give a file away");
        Files.setAttribute(file, "unix:uid", 12345);
        assertThat(FileTrust.problem(file))
                .contains("belongs to user 12345 (mode 0755), expected root or the user of this program");
    }

    private static Object owner(Path file) throws IOException {
        return Files.getAttribute(file, "unix:uid");
    }
}
