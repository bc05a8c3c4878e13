package dev.gpuwarden.checks.access;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.checks.access.Isolation.Mode;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class IsolationTest {

    private static final Reading<Long> NO_LIMIT = Reading.absent(Absence.NO_DATA);

    @TempDir
    Path root;

    @ParameterizedTest
    @CsvSource({
        "auto, 0, false, 1000, ''",
        "auto, 0, false, 100, 'leaves 100 MiB'",
        "auto, 0, true, 1000, 'GpuCheckCrash is current'",
        "auto, 700, false, 1000, 'CUDA error 700'",
        "process, 700, true, 100, ''",
        "child, 0, false, 1000, '--check.isolation=child'",
    })
    void causeOfAChildIsNamed(Mode mode, int poison, boolean crashed, long mebibytes, String cause) {
        assertThat(Isolation.childBecause(mode, poison, crashed, Reading.of(mebibytes << 20))
                        .orElse(""))
                .contains(cause)
                .matches(text -> text.isEmpty() == cause.isEmpty());
    }

    @Test
    void onlyErrorsThatStayLeadToAChild() {
        Isolation isolation = new Isolation(Mode.auto, () -> false, () -> NO_LIMIT);
        for (int code : new int[] {0, 2, 46, 222, 802, 999}) {
            isolation.failed(code);
        }
        assertThat(isolation.childBecause()).isEmpty();
        isolation.failed(214);
        isolation.failed(719);
        assertThat(isolation.childBecause().orElseThrow()).contains("CUDA error 214");
    }

    @Test
    void tightestLimitOfTheCgroupAndItsParentsCounts() throws IOException {
        Path own = Files.writeString(root.resolve("cgroup"), "0::/pods/own\n");
        Path folder = Files.createDirectories(root.resolve("tree/pods/own"));
        Files.writeString(folder.resolve("memory.max"), "max\n");
        Files.writeString(folder.resolve("memory.current"), "10\n");
        MemoryLimit limit = new MemoryLimit(own, root.resolve("tree"));
        assertThat(limit.get()).isInstanceOf(Reading.Absent.class);
        Files.writeString(folder.resolve("../memory.max"), "100\n");
        Files.writeString(folder.resolve("../memory.current"), "70\n");
        assertThat(limit.get()).isEqualTo(Reading.of(30L));
        assertThat(limit.refusal().orElseThrow().code()).isEqualTo("memory-limit");
    }

    @Test
    void cacheOfFilesLeavesItsMemory() throws IOException {
        Path own = Files.writeString(root.resolve("cgroup"), "0::/own\n");
        Path folder = Files.createDirectories(root.resolve("tree/own"));
        Files.writeString(folder.resolve("memory.max"), (1L << 30) + "\n");
        Files.writeString(folder.resolve("memory.current"), (1L << 30) + "\n");
        Files.writeString(
                folder.resolve("memory.stat"), "anon 5\ninactive_file 400000000\nactive_file 200000000\nshmem 7\n");
        MemoryLimit limit = new MemoryLimit(own, root.resolve("tree"));
        assertThat(limit.get()).isEqualTo(Reading.of(600_000_000L));
        assertThat(limit.refusal()).isEmpty();
    }
}
