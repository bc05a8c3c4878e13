package dev.gpuwarden.daemon.holders;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.GpuIdentity.MigDevice;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.daemon.holders.DeviceIds.Meaning;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** GPU 0 has the minor number 0, GPU 1 the 3, GPU 2 the 2; GPU 2 is partitioned; GPU 3 does not report its UUID. */
class DeviceIdsTest {

    static final String G0 = "GPU-00000000-0000-0000-0000-000000000000";
    static final String G1 = "GPU-11111111-1111-1111-1111-111111111111";
    static final String G2 = "GPU-22222222-2222-2222-2222-222222222222";
    static final String PART = "MIG-2a2a2a2a-2a2a-2a2a-2a2a-2a2a2a2a2a2a";
    static final String ELSEWHERE = "99999999-9999-9999-9999-999999999999";

    static final List<GpuIdentity> GPUS =
            List.of(gpu(0, G0, 0), gpu(1, G1, 3), gpu(2, G2, 2, PART), GpuIdentity.unknown(3, (Reading.Absent<?>)
                    Reading.absent(Absence.GPU_LOST)));

    static GpuIdentity gpu(int index, String uuid, int minor, String... parts) {
        GpuIdentity none = GpuIdentity.unknown(index, (Reading.Absent<?>) Reading.absent(Absence.NO_DATA));
        Reading<Integer> instance = Reading.of(1);
        return new GpuIdentity(
                index,
                Reading.of(uuid),
                none.pci(),
                Reading.of(minor),
                none.name(),
                none.serial(),
                none.vbios(),
                none.boardPart(),
                none.computeCapability(),
                none.numaNode(),
                Reading.of(parts.length > 0),
                Arrays.stream(parts)
                        .map(part -> new MigDevice(0, part, instance, instance, Reading.of("1g.10gb")))
                        .toList(),
                none.nvlinks());
    }

    private static String shown(Meaning meaning) {
        return meaning instanceof Meaning.Gpu gpu
                ? gpu.uuid() + " " + gpu.kind()
                : "? " + ((Meaning.Unknown) meaning).why();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            GPU-11111111-1111-1111-1111-111111111111      | GPU-11111111-1111-1111-1111-111111111111 EXCLUSIVE
            GPU-11111111-1111-1111-1111-111111111111::7   | GPU-11111111-1111-1111-1111-111111111111 SHARED
            GPU-99999999-9999-9999-9999-999999999999      | GPU-99999999-9999-9999-9999-999999999999 EXCLUSIVE
            MIG-2a2a2a2a-2a2a-2a2a-2a2a-2a2a2a2a2a2a      | GPU-22222222-2222-2222-2222-222222222222 MIG
            MIG-2A2A2A2A-2a2a-2a2a-2a2a-2a2a2a2a2a2a::0   | GPU-22222222-2222-2222-2222-222222222222 MIG
            MIG-99999999-9999-9999-9999-999999999999      | ? no GPU had this partition at the last query of the driver
            MIG-GPU-99999999-9999-9999-9999-999999999999/5/0    | GPU-99999999-9999-9999-9999-999999999999 MIG
            MIG-GPU-99999999-9999-9999-9999-999999999999/5/0::1 | GPU-99999999-9999-9999-9999-999999999999 MIG
            1          | GPU-11111111-1111-1111-1111-111111111111 EXCLUSIVE
            1::3       | GPU-11111111-1111-1111-1111-111111111111 SHARED
            2:0        | GPU-22222222-2222-2222-2222-222222222222 MIG
            3          | ? the UUID of GPU 3 is not known
            4          | ? no GPU has the index 4
            nvidia3    | GPU-11111111-1111-1111-1111-111111111111 EXCLUSIVE
            nvidia3/vgpu1     | GPU-11111111-1111-1111-1111-111111111111 SHARED
            nvidia2/gi7       | GPU-22222222-2222-2222-2222-222222222222 MIG
            nvidia2/gi7/vgpu0 | GPU-22222222-2222-2222-2222-222222222222 MIG
            nvidia1    | ? no GPU has the minor number 1
            GPU-1      | ? not a name of a GPU on this node
            99999999999 | ? not a name of a GPU on this node
            nvidia.com/gpu=0 | ? not a name of a GPU on this node
            """)
    void namesThatDevicePluginsGive(String id, String expected) {
        assertThat(shown(new DeviceIds(GPUS).ofPlugin(id))).isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            gpu-0                | GPU-00000000-0000-0000-0000-000000000000 DRA
            gpu-2-mig-19-0-1     | GPU-22222222-2222-2222-2222-222222222222 DRA
            gpu-2-mig-1g10gb-0-1 | GPU-22222222-2222-2222-2222-222222222222 DRA
            gpu-1                | ? the minor number 1 and the index 1 are of different GPUs, and releases of the driver mean one or the other
            gpu-3                | ? the minor number 3 and the index 3 are of different GPUs, and releases of the driver mean one or the other
            gpu-9                | ? no GPU has the minor number 9
            gpu-vfio-0           | ? not a name of a GPU on this node
            channel-0            | ? not a name of a GPU on this node
            """)
    void namesOfClaimedDevices(String device, String expected) {
        assertThat(shown(new DeviceIds(GPUS).ofClaim(device, List.of("k8s.gpu.nvidia.com/claim=0-gpu-0"))))
                .isEqualTo(expected);
    }

    @Test
    void theUuidIsTakenFromTheContainerRuntimesName() {
        DeviceIds ids = new DeviceIds(GPUS);
        assertThat(shown(ids.ofClaim("gpu-1", List.of("a/b=c", "k8s.gpu.nvidia.com/device=" + G1))))
                .isEqualTo(G1 + " DRA");
        assertThat(shown(ids.ofClaim("", List.of("k8s.gpu.nvidia.com/claim=0-" + PART))))
                .isEqualTo(G2 + " DRA");
        assertThat(shown(ids.ofClaim("gpu-1", List.of("k8s.gpu.nvidia.com/device=MIG-" + ELSEWHERE))))
                .startsWith("? ");
    }

    @Test
    void twoGpusOfOneNumberAreNeither() {
        DeviceIds ids = new DeviceIds(List.of(gpu(0, G0, 1), gpu(1, G1, 1)));
        assertThat(shown(ids.ofPlugin("nvidia1"))).isEqualTo("? no GPU has the minor number 1");
    }
}
