package dev.gpuwarden.core.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.process.GpuProcess.Type;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MemoryAttributionTest {

    private static final long MIB = 1L << 20;
    private static final Reading<Integer> WHOLE = Reading.absent(Absence.NOT_SUPPORTED);
    private static final GpuIdentity GPU = new GpuIdentity(
            0,
            Reading.of("GPU-1"),
            Reading.absent(Absence.NO_DATA),
            Reading.of(0),
            Reading.of("simulated"),
            Reading.absent(Absence.NO_DATA),
            Reading.absent(Absence.NO_DATA),
            Reading.absent(Absence.NO_DATA),
            Reading.absent(Absence.NO_DATA),
            Reading.absent(Absence.NO_DATA),
            Reading.of(false),
            List.of(),
            Reading.absent(Absence.NO_DATA));

    private static Reading<Long> mib(long mib) {
        return Reading.of(mib * MIB);
    }

    private static GpuProcess process(int pid, Type type, Reading<Long> bytes) {
        return new GpuProcess(pid, type, bytes, WHOLE, WHOLE);
    }

    private static GpuProcess onPartition(int pid, int gi, int ci, long mib) {
        return new GpuProcess(pid, Type.COMPUTE, mib(mib), Reading.of(gi), Reading.of(ci));
    }

    /** Version 1 of the driver's call: no reserve of its own. */
    private static GpuMemory used(long mib) {
        return new GpuMemory(mib(80_000), Reading.absent(Absence.NO_SYMBOL), mib(80_000 - mib), mib(mib));
    }

    private static GpuMemoryUse attribute(GpuMemory memory, GpuProcess... processes) {
        return MemoryAttribution.attribute(
                GPU,
                memory,
                Reading.of(List.of(processes)),
                pid -> new ProcessFacts(Reading.of(1L), Reading.of("p" + pid), new Owner.Unit("u" + pid)));
    }

    @Test
    void memoryOfNoProcessIsUnattributed() {
        GpuMemoryUse use =
                attribute(used(1000), process(1, Type.COMPUTE, mib(600)), process(2, Type.GRAPHICS, mib(100)));
        assertThat(use.unattributedBytes()).isEqualTo(mib(300));
        assertThat(use.overattributedBytes()).isEqualTo(mib(0));
        assertThat(use.uses().asOptional().orElseThrow())
                .extracting(MemoryUse::owner)
                .containsExactly(new Owner.Unit("u1"), new Owner.Unit("u2"));
    }

    @Test
    void anIdleGpuIsAllUnattributed() {
        assertThat(attribute(used(450)).unattributedBytes()).isEqualTo(mib(450));
    }

    @Test
    void overclaimedMemoryLeavesNoRemainder() {
        GpuMemoryUse use = attribute(used(500), process(1, Type.COMPUTE, mib(600)));
        assertThat(use.unattributedBytes()).isEqualTo(mib(0));
        assertThat(use.overattributedBytes()).isEqualTo(mib(100));
    }

    @ParameterizedTest
    @CsvSource({
        // total, reserved, free, used, of clients
        "81559, 551, 79808, 1200, 1200", // used + free + reserved = total: the reserve stands apart
        "81559, 551, 79808, 1751, 1200", // used + free = total: the reserve is part of used
        "81559, 551, 79807, 1201, 1201"
    })
    void driverReserveHasNoOwner(long total, long reserved, long free, long used, long clients) {
        GpuMemoryUse use = attribute(
                new GpuMemory(mib(total), mib(reserved), mib(free), mib(used)), process(1, Type.COMPUTE, mib(1000)));
        assertThat(use.usedBytes()).isEqualTo(mib(used));
        assertThat(use.unattributedBytes()).isEqualTo(mib(clients - 1000));
    }

    @Test
    void aProcessThatComputesAndDrawsCountsOnce() {
        GpuMemoryUse use = attribute(
                used(1000),
                process(1, Type.GRAPHICS, mib(590)),
                process(1, Type.COMPUTE, mib(600)),
                process(1, Type.GRAPHICS, Reading.absent(Absence.NO_DATA)));
        assertThat(use.unattributedBytes()).isEqualTo(mib(400));
        assertThat(use.uses().asOptional().orElseThrow())
                .singleElement()
                .satisfies(row -> assertThat(row.process().type()).isEqualTo(Type.COMPUTE));
    }

    @Test
    void partitionsOfOneProcessAddUpWithoutTheBoardsList() {
        GpuMemoryUse use = attribute(
                used(1000),
                process(1, Type.COMPUTE, mib(500)),
                onPartition(1, 3, 0, 200),
                onPartition(1, 5, 0, 300),
                onPartition(1, 5, 0, 300),
                onPartition(2, 5, 0, 100));
        assertThat(use.unattributedBytes()).isEqualTo(mib(400));
        assertThat(use.uses().asOptional().orElseThrow()).hasSize(3);
    }

    @Test
    void aProcessWithoutAFigureLeavesTheRemainderUnknown() {
        GpuMemoryUse use = attribute(
                used(1000),
                process(1, Type.COMPUTE, mib(500)),
                process(2, Type.COMPUTE, Reading.absent(Absence.NO_DATA, 0, "N/A")));
        assertThat(use.unattributedBytes()).isEqualTo(Reading.absent(Absence.NO_DATA, 0, "memory of 1 of 2 processes"));
        assertThat(use.overattributedBytes()).isInstanceOf(Reading.Absent.class);
    }

    @Test
    void withoutAProcessListNothingIsAttributed() {
        Reading<List<GpuProcess>> refused = Reading.absent(Absence.NO_PERMISSION, 4, "processes");
        GpuMemoryUse use = MemoryAttribution.attribute(GPU, used(1000), refused, pid -> {
            throw new AssertionError("nobody to look up");
        });
        assertThat(use.uses()).isEqualTo(Reading.absent(Absence.NO_PERMISSION, 4, "processes"));
        assertThat(use.unattributedBytes()).isEqualTo(Reading.absent(Absence.NO_PERMISSION, 4, "processes"));
        assertThat(use.usedBytes()).isEqualTo(mib(1000));
    }

    @Test
    void withoutUsedMemoryTheRemainderHasItsCause() {
        Reading<Long> lost = Reading.absent(Absence.GPU_LOST, 15, "");
        GpuMemoryUse use = attribute(new GpuMemory(lost, lost, lost, lost), process(1, Type.COMPUTE, mib(1)));
        assertThat(use.unattributedBytes()).isEqualTo(lost);
    }

    @Test
    void sharesOfOneOwnerAddUpAndOneUnknownMakesTheSumUnknown() {
        Owner.Pod a = pod("a", "c1");
        Owner.Pod aOther = pod("a", "c2");
        Owner.Pod b = pod("b", "c3");
        List<Owner> owners = List.of(a, aOther, b, b, new Owner.Unit("x.service"));
        List<GpuProcess> processes = new ArrayList<>();
        for (int pid = 0; pid < owners.size(); pid++) {
            processes.add(process(pid, Type.COMPUTE, pid == 3 ? Reading.absent(Absence.NO_DATA) : mib(10)));
        }
        GpuMemoryUse use = MemoryAttribution.attribute(
                GPU,
                used(1000),
                Reading.of(processes),
                pid -> new ProcessFacts(Reading.of(1L), Reading.of(""), owners.get(pid)));
        assertThat(MemoryShare.byPod(use))
                .extracting(MemoryShare::bytes, MemoryShare::processes)
                .containsExactly(tuple(mib(20), 2), tuple(Reading.absent(Absence.NO_DATA), 2), tuple(mib(10), 1));
        assertThat(MemoryShare.byContainer(use)).hasSize(4);
        assertThat(MemoryShare.byUnit(use))
                .extracting(MemoryShare::owner)
                .containsExactly(new Owner.Unit("(pods)"), new Owner.Unit("x.service"));
    }

    private static Owner.Pod pod(String uid, String containerId) {
        return new Owner.Pod(uid, Reading.of("ns"), Reading.of("p" + uid), Reading.of("c"), Reading.of(containerId));
    }
}
