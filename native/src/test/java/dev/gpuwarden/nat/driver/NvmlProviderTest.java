package dev.gpuwarden.nat.driver;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.port.Capability;
import dev.gpuwarden.core.port.Driver;
import dev.gpuwarden.core.port.DriverOptions;
import dev.gpuwarden.core.port.DriverOptions.SamplerPath;
import dev.gpuwarden.core.port.DriverProvider;
import dev.gpuwarden.core.port.Opening;
import dev.gpuwarden.core.port.Opening.Reason;
import dev.gpuwarden.core.port.Opening.Unavailable;
import dev.gpuwarden.core.port.Provider;
import dev.gpuwarden.core.telemetry.Cadence;
import dev.gpuwarden.core.telemetry.GpuFrame;
import dev.gpuwarden.core.telemetry.GpuMetric;
import dev.gpuwarden.nat.sim.SimNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NvmlProviderTest {

    @TempDir
    Path folder;

    @Test
    void isFoundByTheServiceLoader() {
        assertThat(Provider.of(DriverProvider.class)).isInstanceOf(NvmlProvider.class);
    }

    @ParameterizedTest
    @CsvSource({"9, DRIVER_NOT_LOADED", "18, VERSION_MISMATCH", "4, NO_PERMISSION", "999, FAILED", "12, FAILED"})
    void failedStartNamesFileAndAnswer(int code, Reason reason) {
        SimNode node = SimNode.of("550", folder).set("header.init_result", code);
        assertThat(node.opening(SamplerPath.AUTO)).isInstanceOfSatisfying(Unavailable.class, u -> {
            assertThat(u.reason()).isEqualTo(reason);
            assertThat(u.code()).isEqualTo(code);
            assertThat(u.detail())
                    .contains(folder.resolve("libnvidia-ml.so.1").toString())
                    .contains(code + " (");
        });
    }

    @Test
    void loadedDriverWithoutDeviceNodesIsNoPermission() {
        assertThat(NvmlProvider.unavailable(9, "x", true, false).reason()).isEqualTo(Reason.NO_PERMISSION);
        assertThat(NvmlProvider.unavailable(9, "x", true, true).reason()).isEqualTo(Reason.DRIVER_NOT_LOADED);
        assertThat(NvmlProvider.unavailable(9, "x", false, false).reason()).isEqualTo(Reason.DRIVER_NOT_LOADED);
    }

    @Test
    void otherLibraryIsRefusedWithItsMissingFunctions() {
        Path other = SimNode.built().resolve("libgpuwarden_jni.so");
        assertThat(open(other)).isInstanceOfSatisfying(Unavailable.class, u -> {
            assertThat(u.reason()).isEqualTo(Reason.LIBRARY_UNUSABLE);
            assertThat(u.detail()).contains(other.toString()).contains("nvmlInit_v2");
        });
    }

    @Test
    void theFileOfTheLibraryThatWasLoadedIsReported() {
        try (Driver driver = SimNode.of("535.161", folder).open(SamplerPath.AUTO)) {
            assertThat(driver.info().libraryPath().asOptional())
                    .contains(folder.resolve("libnvidia-ml.so.1").toString());
            assertThat(driver.info().cudaVersion().asOptional()).contains("12.4");
        }
    }

    /** The loader returns a library of the same name as long as one is loaded, even if its file was replaced. */
    @Test
    void replacedLibraryIsReadFromItsFileAfterACloseAndAfterAFailedStart() throws IOException {
        SimNode node = SimNode.of("550", folder);
        Driver first = node.open(SamplerPath.AUTO);
        GpuFrame frame = new GpuFrame();
        Driver.Sampler sampler = first.sampler(0);
        sampler.sample(Cadence.FAST, frame);
        assertThat(frame.present(GpuMetric.POWER_USAGE)).isTrue();
        first.close();
        sampler.sample(Cadence.FAST, frame);
        assertThat(frame.present(GpuMetric.POWER_USAGE))
                .as("no call of unloaded code")
                .isFalse();
        assertThat(first.count()).isInstanceOf(Reading.Absent.class);

        node.upgrade("580").set("header.init_result", 18);
        assertThat(node.opening(SamplerPath.AUTO))
                .isInstanceOfSatisfying(
                        Unavailable.class,
                        u -> assertThat(u.detail()).endsWith("when started; the library is of version 13.580.82.07"));
        node.upgrade("615").set("header.init_result", 0);
        try (Driver third = node.open(SamplerPath.AUTO)) {
            assertThat(third.info().libraryVersion().asOptional()).contains("13.615.71");
        }
        assertThat(Files.readString(Path.of("/proc/self/maps"))).doesNotContain(folder.toString() + "/libnvidia-ml");
    }

    @Test
    void versionOfTheLoadedKernelDriverIsReadFromItsFile() {
        String closed = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.161.08  Sat Feb 17 22:55:48 UTC 2024\n"
                + "GCC version:  gcc version 12.2.0 (Debian 12.2.0-14)\n";
        String open = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release Build  (a@b)";
        assertThat(NvmlProvider.kernelVersion(closed)).contains("535.161.08");
        assertThat(NvmlProvider.kernelVersion(open)).contains("580.65.06");
        assertThat(NvmlProvider.kernelVersion("another driver")).isEmpty();
    }

    @Test
    void missingFunctionNamesItsFallback() {
        try (Driver driver = SimNode.of("470", folder).open(SamplerPath.AUTO)) {
            assertThat(driver.capabilities())
                    .contains(new Capability(
                            "nvmlDeviceGetMemoryInfo_v2",
                            "GPU memory, with the driver's own share separate",
                            false,
                            "nvmlDeviceGetMemoryInfo serves instead"))
                    .contains(new Capability(
                            "nvmlDeviceGetMarginTemperature",
                            "degrees left to slowdown",
                            false,
                            "not in this library"));
        }
    }

    /** In a process of its own: where any driver library is loaded already, the loader finds that one by its SONAME. */
    @Test
    @Tag("programs")
    void missingLibraryListsTheSearchedPlaces() throws Exception {
        List<String> said = OpenProbe.run(folder.resolve("nowhere"));
        assertThat(said.get(0)).isEqualTo("LIBRARY_MISSING");
        assertThat(said.get(1)).contains(folder.resolve("nowhere").toString()).contains("the loader's search path");
    }

    @Test
    @Tag("programs")
    void invalidLibraryIsReportedWithTheLoadersError() throws Exception {
        Path file = Files.writeString(folder.resolve("libnvidia-ml.so.1"), "not a library");
        List<String> said = OpenProbe.run(folder);
        assertThat(said.get(0)).isEqualTo("LIBRARY_UNUSABLE");
        assertThat(said.get(1)).contains(file.toString());
    }

    @Test
    @Tag("programs")
    void missingJniLibraryFallsBackToJnaWithTheReason() throws Exception {
        SimNode.of("580", folder);
        Path empty = Files.createDirectory(folder.resolve("empty"));
        List<String> said = OpenProbe.run(folder, empty);
        assertThat(said.get(1)).isEqualTo("jna (libgpuwarden_jni.so is not in [" + empty + "])");
    }

    @Test
    @Tag("programs")
    void brokenJniLibraryDoesNotStopTheDriver() throws Exception {
        SimNode.of("580", folder);
        Files.writeString(folder.resolve("libgpuwarden_jni.so"), "not a library");
        List<String> said = OpenProbe.run(folder, folder);
        // The JVM comments on such a file first.
        assertThat(said.get(said.size() - 1)).startsWith("jna (").contains("libgpuwarden_jni.so");
    }

    private static Opening<Driver> open(Path path) {
        return new NvmlProvider().open(new DriverOptions(List.of(path.toString()), SamplerPath.AUTO));
    }

    /** Opens a driver in a fresh JVM. */
    static final class OpenProbe {

        private OpenProbe() {}

        static List<String> run(Path library) throws IOException, InterruptedException {
            return run(library, SimNode.built());
        }

        static List<String> run(Path library, Path jni) throws IOException, InterruptedException {
            Process process = new ProcessBuilder(
                            Path.of(System.getProperty("java.home"), "bin", "java")
                                    .toString(),
                            "-XX:TieredStopAtLevel=1",
                            "-XX:+UseSerialGC",
                            "-Dgpuwarden.native.dir=" + jni,
                            "-cp",
                            System.getProperty("java.class.path"),
                            OpenProbe.class.getName(),
                            library.toString())
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            List<String> lines =
                    new String(process.getInputStream().readAllBytes()).lines().toList();
            process.waitFor();
            return lines;
        }

        public static void main(String[] args) {
            Opening<Driver> opening = open(Path.of(args[0]));
            if (opening instanceof Unavailable<Driver> unavailable) {
                System.out.println(unavailable.reason());
                System.out.println(unavailable.detail());
            } else {
                System.out.println("OPENED");
                System.out.println(
                        ((Opening.Opened<Driver>) opening).driver().info().samplerPath());
            }
        }
    }
}
