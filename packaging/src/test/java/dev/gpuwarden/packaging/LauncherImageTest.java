package dev.gpuwarden.packaging;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The script of the source tree, in a tree that is built, on a machine without the tools for real nodes. */
@Tag("image")
class LauncherImageTest {

    private static final String SCRIPTS = "testkit/src/main/sh";

    @ParameterizedTest
    @CsvSource({
        "cluster up --help, 0",
        "demo cluster --help, 0",
        "cluster up --no-such-option, 2",
        "cluster up --nodes 0, 2",
        "cluster up --scenario typo, 2",
        "demo cluster --story typo, 2"
    })
    void helpAndWrongUsageInstallAndBuildNothing(String arguments, int code, @TempDir Path tree) throws Exception {
        Path repository = Path.of(System.getProperty("gpuwarden.repository"));
        Files.createDirectories(tree.resolve(SCRIPTS).getParent());
        Files.createDirectories(tree.resolve("target"));
        Files.createDirectories(tree.resolve("packaging/target"));
        Files.copy(repository.resolve("gpuwarden"), tree.resolve("gpuwarden"));
        Files.createSymbolicLink(tree.resolve(SCRIPTS), repository.resolve(SCRIPTS));
        Files.createSymbolicLink(
                tree.resolve("packaging/target/image"), Image.built().home());
        Files.createFile(tree.resolve("target/built"));
        Path installer = Files.writeString(tree.resolve("apt-get"), "#!/bin/sh\nexit 1\n");
        Files.setPosixFilePermissions(installer, PosixFilePermissions.fromString("rwxr-xr-x"));
        Process process = new ProcessBuilder(
                        "sh", "-c", "PATH=.:$PATH KUBEBUILDER_ASSETS=/nonexistent ./gpuwarden " + arguments)
                .directory(tree.toFile())
                .redirectErrorStream(true)
                .start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        int ended = process.waitFor();
        Files.delete(tree.resolve("packaging/target/image"));
        Files.delete(tree.resolve(SCRIPTS));
        assertThat(ended).as(output).isEqualTo(code);
        assertThat(output).contains(code == 0 ? "Usage: gpuwarden" : "gpuwarden: ");
        try (var made = Files.list(tree.resolve("target"))) {
            assertThat(made.toList()).isEqualTo(List.of(tree.resolve("target/built")));
        }
    }
}
