package dev.gpuwarden.daemon.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.checks.CheckEnvironment;
import dev.gpuwarden.checks.CheckPlan;
import dev.gpuwarden.checks.CheckRunner;
import dev.gpuwarden.checks.node.NodePaths;
import dev.gpuwarden.checks.view.Values;
import dev.gpuwarden.cli.Output;
import dev.gpuwarden.core.check.Expectations;
import dev.gpuwarden.core.check.Limits;
import dev.gpuwarden.core.check.RunListener;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.GpuIdentity.MigDevice;
import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.node.NodeSnapshot.DriverState;
import dev.gpuwarden.core.port.DriverInfo;
import dev.gpuwarden.core.process.GpuProcess;
import dev.gpuwarden.core.telemetry.Cadence;
import dev.gpuwarden.core.telemetry.GpuFrame;
import dev.gpuwarden.core.telemetry.GpuMetric;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import dev.gpuwarden.core.telemetry.GpuState;
import dev.gpuwarden.core.telemetry.LinkMetric;
import dev.gpuwarden.core.telemetry.Unit;
import dev.gpuwarden.daemon.Golden;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The shape of gpuwarden.scan/v1, on a snapshot made by hand: every kind of value once. */
class ScanReportTest {

    private static final DriverInfo INFO = new DriverInfo(
            "nvml",
            Reading.of("/usr/lib/libnvidia-ml.so.1"),
            Reading.of("12.550.163.01"),
            Reading.of("550.163.01"),
            Reading.absent(Absence.NO_SYMBOL, 0, "nvmlSystemGetCudaDriverVersion_v2"),
            "jni");

    private static NodeSnapshot node() {
        PciAddress pci = new PciAddress(0, 0x3b, 0, 0);
        MigDevice part = new MigDevice(0, "MIG-1", Reading.of(1), Reading.of(0), Reading.of("1g.10gb"));
        GpuIdentity identity = new GpuIdentity(
                0,
                Reading.of("GPU-1"),
                Reading.of(pci),
                Reading.of(3),
                Reading.of("NVIDIA H100 80GB HBM3"),
                Reading.of("1650000000001"),
                Reading.of("96.00.74.00.01"),
                Reading.absent(Absence.FAILED, 999, "nvmlDeviceGetBoardPartNumber"),
                Reading.of("9.0"),
                Reading.of(0),
                Reading.of(true),
                List.of(part),
                Reading.of(List.of()));
        GpuFrame frame = new GpuFrame();
        for (int slot = 0; slot < GpuFrame.SLOTS; slot++) {
            frame.putAbsent(slot, Absence.NOT_SUPPORTED, 3);
        }
        frame.put(GpuFrame.slot(GpuMetric.MEMORY_TOTAL), 85_520_809_984L);
        frame.put(GpuFrame.slot(GpuMetric.MEMORY_USED), 1L << 30);
        frame.put(GpuFrame.slot(GpuMetric.TEMPERATURE), 41);
        frame.put(GpuFrame.slot(GpuMetric.POWER_USAGE), 71_230);
        frame.put(GpuFrame.slot(GpuMetric.UTILIZATION_GPU), 57);
        frame.put(GpuFrame.slot(GpuMetric.RECOVERY_ACTION), 1);
        frame.put(GpuFrame.slot(GpuMetric.NVLINK_LINKS), 1);
        frame.put(GpuFrame.slot(LinkMetric.STATE, 0), 1);
        frame.put(GpuFrame.slot(LinkMetric.SPEED, 0), 26_562);
        frame.sampled(Cadence.FAST, 1, 2, 40);
        GpuFrame partFrame = new GpuFrame();
        partFrame.put(GpuFrame.slot(GpuMetric.MEMORY_TOTAL), 10L << 30);
        GpuProcess process = new GpuProcess(
                4242,
                GpuProcess.Type.COMPUTE,
                Reading.absent(Absence.NO_DATA, 0, "used memory"),
                Reading.of(1),
                Reading.of(0));
        GpuSnapshot gpu = new GpuSnapshot(
                identity,
                GpuState.ANSWERING,
                "",
                frame,
                Reading.of(123_000_000L),
                Reading.of(List.of(process)),
                Reading.of(4_500_000_000L),
                2,
                List.of(new GpuSnapshot.MigSnapshot(part, partFrame)));
        return new NodeSnapshot(
                new DriverState.Running(INFO), Reading.of(List.of(pci, new PciAddress(0, 0x5e, 0, 0))), List.of(gpu));
    }

    @Test
    void jsonIsStable() throws IOException {
        CheckPlan plan = CheckPlan.installed().only(Set.of("driver", "gpu-recovery-action")::contains);
        NodePaths paths = NodePaths.of(Path.of("/nonexistent"), Path.of("/nonexistent"), Path.of("/nonexistent"));
        CheckEnvironment around = CheckEnvironment.once(node(), Limits.NONE, Expectations.NONE, paths);
        ScanCommand.Report report = ScanCommand.Report.of(node(), CheckRunner.once(plan, around, RunListener.NONE));
        Golden.check("scan/one-gpu.json", Output.json(report.tree()) + "\n");
    }

    @ParameterizedTest
    @CsvSource({
        "PERCENT, 57, 0.57",
        "MILLIWATTS, 71230, 71.23",
        "NANOSECONDS, 123456789012345678, 123456789.012346",
        "BYTES, 85520809984, 85520809984",
        "MEGAHERTZ, 1980, 1980000000",
        "KIBIBYTES, 3, 3072",
        "CELSIUS, -4, -4"
    })
    void valuesAreInBaseUnitsWithoutBinaryDust(Unit unit, long raw, String expected) {
        assertThat(Values.base(unit, raw).toString().replace("1.23456789012346E8", "123456789.012346"))
                .isEqualTo(expected);
    }

    @Test
    void absenceIsNeverANumber() {
        assertThat(Values.tree(Reading.absent(Absence.GPU_LOST, 15, "nvmlDeviceGetName"))
                        .toString())
                .isEqualTo("{absent=gpu_lost, code=15, detail=nvmlDeviceGetName}");
    }
}
