package dev.gpuwarden.checks.node;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.core.model.Reading;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PciBusTest {

    @TempDir
    Path sysfs;

    private Path devices;

    @BeforeEach
    void bus() throws IOException {
        devices = Files.createDirectories(sysfs.resolve("bus/pci/devices"));
    }

    private Path device(String name, String vendor, String type) throws IOException {
        Path folder = Files.createDirectories(devices.resolve(name));
        Files.writeString(folder.resolve("vendor"), vendor + "\n");
        Files.writeString(folder.resolve("class"), type + "\n");
        return folder;
    }

    private Reading<List<PciAddress>> gpus() {
        return new PciBus(NodePaths.of(Path.of("/proc"), sysfs, Path.of("/var/log/pods"))).gpus();
    }

    private static Reading<List<PciAddress>> addresses(String... texts) {
        return Reading.of(List.of(texts).stream()
                .map(t -> PciAddress.parse(t).orElseThrow())
                .toList());
    }

    @Test
    void countsNvidiaDisplayAnd3dControllersInBusOrder() throws IOException {
        device("0000:3b:00.0", "0x10de", "0x030200");
        device("0000:1a:00.0", "0x10de", "0x030000");
        device("0000:1a:00.1", "0x10de", "0x040300");
        device("0000:05:00.0", "0x10de", "0x068000");
        device("0000:02:00.0", "0x1a03", "0x030000");
        device("10000:01:00.0", "0x10de", "0x030200");
        assertThat(gpus()).isEqualTo(addresses("0000:1a:00.0", "0000:3b:00.0", "10000:01:00.0"));
    }

    @Test
    void omitsVirtualFunctionsAndPassedThroughGpus() throws IOException {
        device("0000:3b:00.0", "0x10de", "0x030200");
        Path virtual = device("0000:3b:00.4", "0x10de", "0x030200");
        Files.createSymbolicLink(virtual.resolve("physfn"), Path.of("../0000:3b:00.0"));
        Path given = device("0000:5e:00.0", "0x10de", "0x030200");
        Files.createSymbolicLink(given.resolve("driver"), Path.of("../../../../bus/pci/drivers/vfio-pci"));
        Path own = device("0000:86:00.0", "0x10de", "0x030200");
        Files.createSymbolicLink(own.resolve("driver"), Path.of("../../../../bus/pci/drivers/nvidia"));
        assertThat(gpus()).isEqualTo(addresses("0000:3b:00.0", "0000:86:00.0"));
    }

    @Test
    void toleratesFilesThatAreNotTheKernels() throws IOException {
        device("0000:01:00.0", "\u0000\u0001\uffff", "0x030200");
        device("0000:02:00.0", "0x10de", "0xzz");
        device("0000:03:00.0", "0x10de" + "0".repeat(100_000), "0x030200");
        device("0000:04:00.0", "", "");
        device("not-an-address", "0x10de", "0x030200");
        Files.createDirectories(devices.resolve("0000:05:00.0"));
        Files.createSymbolicLink(devices.resolve("0000:06:00.0"), Path.of("/nonexistent"));
        assertThat(gpus()).isEqualTo(Reading.of(List.of()));
    }

    @Test
    void missingBusIsAbsentWithItsCause() throws IOException {
        Files.delete(devices);
        assertThat(gpus()).isEqualTo(Reading.absent(Absence.NO_DATA, 0, devices + " does not exist"));
        Files.writeString(devices, "a file");
        assertThat(gpus()).isInstanceOf(Reading.Absent.class);
    }

    @Test
    void unreadableDeviceMakesTheCountUnknown() throws IOException {
        Path folder = Files.createDirectories(devices.resolve("0000:01:00.0"));
        Files.createDirectories(folder.resolve("vendor"));
        assertThat(gpus()).isInstanceOf(Reading.Absent.class);
    }
}
