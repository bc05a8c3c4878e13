package dev.gpuwarden.checks.process;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.checks.node.NodePaths;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.Reading;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The files of a node with two GPUs, and real processes that hold them. */
class GpuFileHoldersTest {

    private static final Path OWN_NAMESPACE = Path.of("/proc/self/ns/pid");

    @TempDir
    Path root;

    private final List<Process> started = new ArrayList<>();
    private final List<GpuIdentity> listed = new ArrayList<>();

    @BeforeEach
    void begin() throws IOException {
        write("proc/1/stat", NodeTree.stat(1, 0, "init"));
        Files.createDirectories(root.resolve("proc/1/ns"));
        Files.createSymbolicLink(root.resolve("proc/1/ns/pid"), Files.readSymbolicLink(OWN_NAMESPACE));
        for (int gpu = 0; gpu < 2; gpu++) {
            write("dev/nvidia" + gpu, "");
            device("0000:0" + gpu + ":00.0");
            write("proc/driver/nvidia/gpus/0000:0" + gpu + ":00.0/information", "Device Minor: \t " + gpu + "\n");
            listed.add(listed(gpu));
        }
        write("dev/nvidiactl", "");
    }

    @AfterEach
    void end() {
        started.forEach(Process::destroy);
    }

    private void write(String path, String text) throws IOException {
        Files.createDirectories(root.resolve(path).getParent());
        Files.writeString(root.resolve(path), text);
    }

    private Path device(String address) throws IOException {
        write("sys/bus/pci/devices/" + address + "/vendor", "0x10de\n");
        write("sys/bus/pci/devices/" + address + "/class", "0x030200\n");
        return root.resolve("sys/bus/pci/devices/" + address);
    }

    private static GpuIdentity listed(int minor) {
        GpuIdentity none = GpuIdentity.unknown(minor, new Reading.Absent<>(Absence.NO_DATA, 0, ""));
        return new GpuIdentity(
                minor,
                none.uuid(),
                none.pci(),
                Reading.of(minor),
                none.name(),
                none.serial(),
                none.vbios(),
                none.boardPart(),
                none.computeCapability(),
                none.numaNode(),
                none.migMode(),
                List.of(),
                none.nvlinks());
    }

    private int hold(String file) throws IOException {
        Process process = new ProcessBuilder("sleep", "60")
                .redirectInput(root.resolve(file).toFile())
                .start();
        started.add(process);
        return (int) process.pid();
    }

    private Reading<Set<Integer>> ofNode() {
        NodePaths paths = NodePaths.of(root.resolve("proc"), root.resolve("sys"), root, root.resolve("dev"));
        return new GpuFileHolders(paths, new ProcessOwners(paths)).ofNode(listed);
    }

    @Test
    void processWithTheFileOfAGpuHoldsItAndOneWithAnotherFileDoesNot() throws IOException {
        hold("dev/nvidiactl");
        assertThat(ofNode()).isEqualTo(Reading.of(Set.of()));
        int pid = hold("dev/nvidia1");
        listed.clear();
        assertThat(ofNode()).as("the driver lists none").isEqualTo(Reading.of(Set.of(pid)));
    }

    @Test
    void virtualMachineHoldsAGpuThatIsPassedThrough() throws IOException {
        Path device = device("0000:07:00.0");
        Files.createSymbolicLink(device.resolve("driver"), Path.of("../../../bus/pci/drivers/vfio-pci"));
        assertThat(ofNode()).isInstanceOf(Reading.Absent.class);
        Files.createSymbolicLink(device.resolve("iommu_group"), Path.of("../../../kernel/iommu_groups/12"));
        write("dev/vfio/12", "");
        assertThat(ofNode()).isEqualTo(Reading.of(Set.of()));
        int pid = hold("dev/vfio/12");
        assertThat(ofNode()).isEqualTo(Reading.of(Set.of(pid)));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "dev",
                "dev/nvidia0",
                "dev/nvidia0 dev/nvidia1",
                "dev/nvidia0 proc/driver",
                "sys/bus/pci/devices",
                "dev/nvidia0 dev/nvidia1 sys/bus/pci/devices/0000:00:00.0 sys/bus/pci/devices/0000:01:00.0 listed"
            })
    void withoutAllItsSourcesTheAnswerIsAbsent(String missing) throws IOException {
        for (String each : missing.split(" ")) {
            remove(each);
        }
        assertThat(ofNode()).isInstanceOf(Reading.Absent.class);
    }

    @Test
    void anotherNamespaceThanTheNodesHidesProcesses() throws IOException {
        Files.delete(root.resolve("proc/1/ns/pid"));
        Files.createSymbolicLink(root.resolve("proc/1/ns/pid"), Path.of("pid:[4026532177]"));
        assertThat(ofNode()).isEqualTo(Reading.absent(Absence.NO_PERMISSION, 0, ProcessOwners.OWN_NAMESPACE));
    }

    private void remove(String each) throws IOException {
        if (each.equals("listed")) {
            listed.clear();
        } else if (Files.exists(root.resolve(each))) {
            try (var all = Files.walk(root.resolve(each))) {
                for (Path path : all.sorted(java.util.Comparator.reverseOrder()).toList()) {
                    Files.delete(path);
                }
            }
        }
    }

    /** Whatever is missing, the answer never omits a process that holds a GPU. */
    @Test
    void noSetOfMissingSourcesMakesAHeldGpuFree() throws IOException {
        List<String> sources = List.of(
                "dev/nvidia0",
                "dev/nvidia1",
                "dev/nvidiactl",
                "proc/driver/nvidia/gpus/0000:00:00.0",
                "proc/driver",
                "sys/bus/pci/devices/0000:00:00.0",
                "sys/bus",
                "dev",
                "listed");
        int runs = Integer.getInteger("gpuwarden.test.holders.runs", 40);
        Random random = new Random(37);
        int pid = hold("dev/nvidia0");
        Path held = root.resolve("held");
        Files.createLink(held, root.resolve("dev/nvidia0"));
        for (int run = 0; run < runs; run++) {
            remove("proc");
            remove("sys");
            remove("dev");
            listed.clear();
            begin();
            Files.delete(root.resolve("dev/nvidia0"));
            Files.createLink(root.resolve("dev/nvidia0"), held);
            for (String source : sources) {
                if (random.nextInt(3) == 0) {
                    remove(source);
                }
            }
            boolean known = !listed.isEmpty()
                    || Files.exists(root.resolve("dev/nvidia0"))
                    || Files.exists(root.resolve("sys/bus/pci/devices/0000:00:00.0"))
                    || Files.exists(root.resolve("proc/driver/nvidia/gpus/0000:00:00.0"));
            Reading<Set<Integer>> seen = ofNode();
            assertThat(!known
                            || seen instanceof Reading.Absent<?>
                            || seen.asOptional().orElseThrow().contains(pid))
                    .as("run %d: %s", run, seen)
                    .isTrue();
        }
    }

    @Test
    void deviceNumberOfAGpuCountsUnderAnyName() {
        assertThat(OpenFiles.isGpu(195 << 8 | 3)).isTrue();
        assertThat(OpenFiles.isGpu(195 << 8 | 254)).as("nvidia-modeset").isFalse();
        assertThat(OpenFiles.isGpu(195 << 8 | 255)).as("nvidiactl").isFalse();
        assertThat(OpenFiles.isGpu(1 << 8 | 3)).as("null").isFalse();
        assertThat(OpenFiles.isGpu(0)).isFalse();
    }
}
