package dev.gpuwarden.packaging;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.gpuwarden.packaging.Image.Run;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The report of scan without a driver, in the words of the real loader and of NVIDIA's real library. */
class NoDriverImageTest {

    private static final String SONAME = "libnvidia-ml.so.1";

    private final Image image = Image.built();

    @TempDir
    Path folder;

    private Path bus;

    @BeforeEach
    void aBusWithoutGpus() throws IOException {
        assumeFalse(
                Files.exists(Path.of("/proc/driver/nvidia")),
                "this machine runs NVIDIA's driver, so that no test can look at what happens without one");
        bus = Files.createDirectories(folder.resolve("sys/bus/pci/devices"));
    }

    private void putGpuOnTheBus() throws IOException {
        Path device = Files.createDirectories(bus.resolve("0000:3b:00.0"));
        Files.writeString(device.resolve("vendor"), "0x10de\n");
        Files.writeString(device.resolve("class"), "0x030200\n");
    }

    private Run scan(Path libraries) {
        return image.run(
                List.of(),
                Map.of("LD_LIBRARY_PATH", libraries.toString()),
                "scan",
                "--path.sysfs",
                folder.resolve("sys").toString());
    }

    private static Path realLibrary() {
        Path lib = Path.of(System.getProperty("gpuwarden.tools.dir", ""), "lib");
        assumeTrue(
                Files.exists(lib.resolve(SONAME)),
                "NVIDIA's " + SONAME + " is not in " + lib + ": ./gpuwarden test gets it from Debian's non-free");
        return lib;
    }

    @Test
    void theRealLibraryWithoutItsDriverIsNamedAsSuch() {
        Run run = scan(realLibrary());
        assertThat(run.out()).contains("the driver library is there, the kernel driver is not loaded (code 9)");
        assertThat(run.code()).as(run.out()).isEqualTo(3);
    }

    @Test
    void theRealLibraryWithoutItsDriverIsAFaultWhereTheBusShowsAGpu() throws IOException {
        Path library = realLibrary();
        putGpuOnTheBus();
        Run run = scan(library);
        assertThat(run.out()).contains("FAIL  driver-not-loaded", "an NVIDIA GPU at 0000:3b:00.0");
        assertThat(run.code()).as(run.out()).isEqualTo(1);
    }

    @Test
    void aFileThatIsNoLibraryIsReportedInTheLoadersWords() throws IOException {
        Files.writeString(
                folder.resolve(SONAME), "not an ELF file, but long enough to hold the header of one. ".repeat(4));
        Run run = scan(folder);
        assertThat(run.out()).contains("library-unusable", folder.resolve(SONAME) + ": invalid ELF header");
        assertThat(run.code()).as(run.out()).isEqualTo(3);
    }

    @Test
    void aGpuWithoutAnyLibraryIsAFault() throws IOException {
        putGpuOnTheBus();
        Run run = scan(folder);
        assumeFalse(run.out().contains("(code 9)"), "this machine has NVIDIA's library installed");
        assertThat(run.out()).contains("FAIL  library-missing");
        assertThat(run.code()).as(run.out()).isEqualTo(1);
    }
}
