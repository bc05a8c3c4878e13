package dev.gpuwarden.daemon.reset;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The places of nvidia-smi below the root of a host. */
class DriverRootTest {

    @TempDir
    Path host;

    private Path program(String path) throws IOException {
        Path file = host.resolve(path);
        Files.createDirectories(file.getParent());
        Files.writeString(file, "#!/bin/sh\necho \"libraries in $LD_LIBRARY_PATH, for $*\"\n");
        return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    private List<String> command() {
        return DriverRoot.find(host).orElseThrow().command(List.of("-r"));
    }

    @Test
    void driverContainerComesBeforeTheHostAndTheHostBeforeGke() throws Exception {
        assertThat(DriverRoot.find(host)).isEmpty();
        Path gke = program("home/kubernetes/bin/nvidia/bin/nvidia-smi");
        String libraries = host.resolve("home/kubernetes/bin/nvidia/lib64").toString();
        assertThat(command()).containsExactly("env", "LD_LIBRARY_PATH=" + libraries, gke.toString(), "-r");

        program("usr/local/nvidia/bin/nvidia-smi");
        assertThat(command()).containsExactly("chroot", host.toString(), "/usr/local/nvidia/bin/nvidia-smi", "-r");
        program("usr/bin/nvidia-smi");
        assertThat(command()).containsExactly("chroot", host.toString(), "/usr/bin/nvidia-smi", "-r");

        Path container = host.resolve("run/nvidia/driver");
        Files.createDirectories(container.resolve("usr/bin"));
        Files.writeString(container.resolve("usr/bin/nvidia-smi"), "not executable");
        assertThat(command()).contains(host.toString());
        program("run/nvidia/driver/usr/bin/nvidia-smi");
        assertThat(command()).containsExactly("chroot", container.toString(), "/usr/bin/nvidia-smi", "-r");
    }

    @Test
    void programOfGkeRunsWithItsLibrariesAndTheyAreSearchedForTheDriverToo() throws Exception {
        program("home/kubernetes/bin/nvidia/bin/nvidia-smi");
        DriverRoot gke = DriverRoot.find(host).orElseThrow();
        String libraries = host.resolve("home/kubernetes/bin/nvidia/lib64").toString();
        NvidiaSmi.Result reset = new NvidiaSmi(gke, Duration.ofSeconds(20)).reset(List.of("GPU-1"));
        assertThat(reset.failure()).isEmpty();
        assertThat(reset.text()).isEqualTo("libraries in " + libraries + ", for -i GPU-1 --gpu-reset");
        assertThat(gke.libraryFolders()).containsExactly(libraries);
    }

    @Test
    void linksOfTheHostAreItsOwnAndAProgramOfAnotherUserDoesNotRun() throws Exception {
        Path real = program("usr/lib/nvidia/current/nvidia-smi");
        Files.createDirectories(host.resolve("usr/bin"));
        Files.createDirectories(host.resolve("etc/alternatives"));
        Files.createSymbolicLink(host.resolve("usr/bin/nvidia-smi"), Path.of("/etc/alternatives/nvidia-smi"));
        Files.createSymbolicLink(
                host.resolve("etc/alternatives/nvidia-smi"), Path.of("../../usr/lib/nvidia/current/nvidia-smi"));
        DriverRoot driver = DriverRoot.find(host).orElseThrow();
        assertThat(driver.problem()).isEmpty();
        Files.setPosixFilePermissions(host.resolve("usr/lib"), PosixFilePermissions.fromString("rwxrwxrwx"));
        assertThat(driver.problem().orElseThrow())
                .startsWith(
                        real.toRealPath() + " lies in " + host.toRealPath().resolve("usr/lib") + ", which users other")
                .endsWith("(mode 0777)");
    }
}
