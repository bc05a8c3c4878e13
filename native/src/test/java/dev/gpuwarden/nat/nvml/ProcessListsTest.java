package dev.gpuwarden.nat.nvml;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.model.Reading.Absent;
import dev.gpuwarden.core.model.Reading.Present;
import dev.gpuwarden.core.port.Driver;
import dev.gpuwarden.core.port.DriverOptions.SamplerPath;
import dev.gpuwarden.core.port.Refusal;
import dev.gpuwarden.core.process.GpuProcess;
import dev.gpuwarden.core.process.GpuProcess.Type;
import dev.gpuwarden.nat.sim.SimNode;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.assertj.core.groups.Tuple;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class ProcessListsTest {

    private static final String COMPUTE = "nvmlDeviceGetComputeRunningProcesses_v3";
    private static final long NOT_AVAILABLE = Long.MIN_VALUE;

    @TempDir
    Path folder;

    static Stream<String> generations() {
        return SimNode.GENERATIONS.stream();
    }

    @ParameterizedTest
    @MethodSource("generations")
    void everyGenerationListsTheSameProcesses(String generation) {
        SimNode node = SimNode.of(generation, folder)
                .process(0, 0, 1001, 5L << 30, "PROCESS_COMPUTE")
                .process(1, 0, 1002, 6L << 30, "PROCESS_COMPUTE")
                .process(2, 0, 1003, 7L << 20, "PROCESS_GRAPHICS")
                .process(3, 0, 1004, 8L << 30, "PROCESS_MPS")
                .process(4, 1, 1005, 9L << 30, "PROCESS_COMPUTE");
        assertThat(list(node, 0))
                .extracting(
                        GpuProcess::pid,
                        GpuProcess::type,
                        p -> p.usedBytes().asOptional().orElseThrow())
                .containsExactlyInAnyOrder(
                        row(1001, Type.COMPUTE, 5L << 30),
                        row(1002, Type.COMPUTE, 6L << 30),
                        row(1003, Type.GRAPHICS, 7L << 20),
                        row(1004, Type.MPS, 8L << 30));
        assertThat(list(node, 1)).extracting(GpuProcess::pid).containsExactly(1005);
    }

    @ParameterizedTest
    @ValueSource(ints = {16, 24, 32})
    void entriesOfAnyLengthAreRead(int stride) {
        SimNode node = SimNode.of("550", folder).set("header.process_stride", stride);
        for (int i = 0; i < 40; i++) {
            node.process(i, 0, 2000 + i, (i + 1L) << 20, "PROCESS_COMPUTE");
        }
        List<GpuProcess> processes = list(node, 0);
        assertThat(processes).hasSize(40);
        assertThat(processes.get(39).usedBytes()).isEqualTo(Reading.of(40L << 20));
    }

    @Test
    void pidInSeveralListsIsOneProcess() {
        SimNode node = SimNode.of("550", folder)
                .process(0, 0, 77, 1L << 30, "PROCESS_COMPUTE")
                .process(1, 0, 77, 1L << 30, "PROCESS_MPS")
                .process(2, 0, 78, NOT_AVAILABLE, "PROCESS_COMPUTE")
                .process(3, 0, 78, 3L << 20, "PROCESS_GRAPHICS");
        assertThat(list(node, 0))
                .extracting(
                        GpuProcess::pid,
                        GpuProcess::type,
                        p -> p.usedBytes().asOptional().orElseThrow())
                .containsExactly(row(77, Type.MPS, 1L << 30), row(78, Type.COMPUTE, 3L << 20));
    }

    @Test
    void memoryThatTheDriverDoesNotReportIsAbsent() {
        SimNode node = SimNode.of("550", folder).process(0, 0, 77, NOT_AVAILABLE, "PROCESS_COMPUTE");
        assertThat(list(node, 0).get(0).usedBytes())
                .isInstanceOfSatisfying(Absent.class, a -> assertThat(a.cause()).isEqualTo(Absence.NOT_SUPPORTED));
    }

    @ParameterizedTest
    @ValueSource(strings = {"LIE_COUNT_ABOVE", "LIE_COUNT_2_31"})
    void impossibleCountIsRefusedAndNotUsed(String lie) {
        SimNode node = SimNode.of("550", folder)
                .process(0, 0, 77, 1, "PROCESS_COMPUTE")
                .lie(0, COMPUTE, lie);
        try (Driver driver = node.open(SamplerPath.AUTO)) {
            assertThat(driver.processes(0))
                    .isInstanceOfSatisfying(
                            Absent.class, a -> assertThat(a.cause()).isEqualTo(Absence.IMPLAUSIBLE));
            driver.processes(0);
            List<Refusal> refusals = driver.refusals();
            assertThat(refusals).extracting(Refusal::function).containsOnly(COMPUTE);
            assertThat(refusals.get(refusals.size() - 1).count()).isEqualTo(2);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, -1, 1 << 30})
    void anEntryWithoutAPossiblePidIsRefusedAndTheOthersStay(int pid) {
        SimNode node = SimNode.of("550", folder)
                .process(0, 0, pid, 1L << 30, "PROCESS_COMPUTE")
                .process(1, 0, 77, 1L << 30, "PROCESS_COMPUTE");
        try (Driver driver = node.open(SamplerPath.AUTO)) {
            assertThat(((Present<List<GpuProcess>>) driver.processes(0)).value())
                    .extracting(GpuProcess::pid)
                    .containsExactly(77);
            assertThat(driver.refusals()).extracting(Refusal::seen).containsExactly("pid " + pid);
        }
    }

    @Test
    void moreMemoryThanAnyGpuHasIsRefused() {
        SimNode node = SimNode.of("550", folder).process(0, 0, 77, 1L << 50, "PROCESS_COMPUTE");
        assertThat(list(node, 0).get(0).usedBytes())
                .isInstanceOfSatisfying(Absent.class, a -> assertThat(a.cause()).isEqualTo(Absence.IMPLAUSIBLE));
    }

    @Test
    void failedListIsNotAnEmptyList() {
        SimNode node = SimNode.of("550", folder)
                .process(0, 0, 77, 1L << 30, "PROCESS_COMPUTE")
                .error(0, "nvmlDeviceGetGraphicsRunningProcesses_v3", 999);
        try (Driver driver = node.open(SamplerPath.AUTO)) {
            assertThat(driver.processes(0)).isInstanceOfSatisfying(Absent.class, a -> {
                assertThat(a.code()).isEqualTo(999);
                assertThat(a.detail()).contains("Graphics");
            });
        }
    }

    @Test
    void boardsWithoutGraphicsOrMpsStillListTheirComputeProcesses() {
        SimNode node = SimNode.of("550", folder)
                .process(0, 0, 77, 1L << 30, "PROCESS_COMPUTE")
                .error(0, "nvmlDeviceGetGraphicsRunningProcesses_v3", 3)
                .error(1, "nvmlDeviceGetMPSComputeRunningProcesses_v3", 3);
        assertThat(list(node, 0)).extracting(GpuProcess::pid).containsExactly(77);
    }

    @Test
    void partitionsAreReadOneByOneByTheirNumbers() {
        SimNode node = SimNode.of("550", folder).partition(0, 1, 0).partition(4, 2, 0);
        node.process(0, 0, 77, 1L << 30, "PROCESS_COMPUTE")
                .set("process[0].gi", 1)
                .set("process[0].ci", 0);
        node.process(1, 0, 78, 2L << 30, "PROCESS_COMPUTE")
                .set("process[1].gi", 2)
                .set("process[1].ci", 0);
        assertThat(list(node, 0))
                .extracting(GpuProcess::pid, p -> p.gpuInstance().asOptional().orElseThrow())
                .containsExactlyInAnyOrder(tuple(77, 1), tuple(78, 2));
    }

    @Test
    void writtenBytesGiveTheEntryLength() {
        byte[] bytes = new byte[32 * 10];
        Arrays.fill(bytes, ProcessEntries.PATTERN);
        ByteBuffer buffer = ByteBuffer.wrap(bytes).order(ByteOrder.nativeOrder());
        for (int stride : new int[] {16, 24, 32}) {
            Arrays.fill(bytes, 0, 3 * stride, (byte) 1);
            assertThat(ProcessEntries.stride(buffer, bytes.length, 3)).hasValue(stride);
        }
        assertThat(ProcessEntries.stride(buffer, bytes.length, 5)).isEmpty();
    }

    private static Tuple row(int pid, Type type, long bytes) {
        return tuple(pid, type, bytes);
    }

    private static List<GpuProcess> list(SimNode node, int gpu) {
        try (Driver driver = node.open(SamplerPath.AUTO)) {
            return ((Present<List<GpuProcess>>) driver.processes(gpu)).value();
        }
    }
}
