package dev.gpuwarden.nat.telemetry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.port.Driver;
import dev.gpuwarden.core.port.Driver.Sampler;
import dev.gpuwarden.core.port.DriverOptions.SamplerPath;
import dev.gpuwarden.core.telemetry.Cadence;
import dev.gpuwarden.core.telemetry.GpuFrame;
import dev.gpuwarden.core.telemetry.GpuMetric;
import dev.gpuwarden.core.telemetry.LinkMetric;
import dev.gpuwarden.nat.sim.SimNode;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.BitSet;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class TelemetryPlanTest {

    @TempDir
    Path folder;

    @ParameterizedTest
    @EnumSource
    void everySlotOfACadenceHasASourceAndNoneOfTheOther(Cadence cadence) {
        BitSet sourced = new BitSet();
        TelemetryPlan.of(cadence).forEach(step -> BoundPlan.addSlotsOf(step, sourced));
        IntStream.of(BoundPlan.slotsOf(cadence)).filter(ProfileReader::fills).forEach(sourced::set);
        assertThat(sourced.stream().toArray()).isEqualTo(BoundPlan.slotsOf(cadence));
    }

    @ParameterizedTest
    @EnumSource
    void resultOfACallFitsTheZeroedMemory(Cadence cadence) {
        for (Step step : TelemetryPlan.of(cadence)) {
            if (step instanceof Step.Call call) {
                assertThat(call.arguments()).hasSize(plainArguments(call.shape()));
                assertThat(call.takes())
                        .allSatisfy(t -> assertThat(t.offset() + 8).isLessThanOrEqualTo(StepRunner.ZEROED_BYTES));
            }
        }
    }

    /** Returns the number of plain arguments between the device and the scratch memory. */
    private static int plainArguments(Shape shape) {
        return switch (shape) {
            case ARG_OUT, COUNT -> 1;
            case ARG2_OUT -> 2;
            case ARG3_OUT -> 3;
            default -> 0;
        };
    }

    /** The simulated board has every number; a reading that is missing there is not supported by the generation. */
    static Stream<Object[]> unsaid() {
        EnumSet<GpuMetric> before615 = EnumSet.of(GpuMetric.TEMPERATURE_MARGIN);
        EnumSet<GpuMetric> in470 = EnumSet.of(
                GpuMetric.MEMORY_RESERVED,
                GpuMetric.TEMPERATURE_MARGIN,
                GpuMetric.ECC_SRAM_VOLATILE_UNCORRECTED_PARITY,
                GpuMetric.ECC_SRAM_VOLATILE_UNCORRECTED_SECDED,
                GpuMetric.ECC_SRAM_AGGREGATE_UNCORRECTED_PARITY,
                GpuMetric.ECC_SRAM_AGGREGATE_UNCORRECTED_SECDED,
                GpuMetric.ECC_SRAM_THRESHOLD_EXCEEDED,
                GpuMetric.FABRIC_STATE,
                GpuMetric.FABRIC_STATUS,
                GpuMetric.FABRIC_CLIQUE,
                GpuMetric.FABRIC_HEALTH_MASK,
                GpuMetric.FABRIC_HEALTH_SUMMARY);
        return Stream.of(
                new Object[] {"470", in470},
                new Object[] {"615", EnumSet.noneOf(GpuMetric.class)},
                new Object[] {"550", before615});
    }

    @ParameterizedTest
    @MethodSource("unsaid")
    void aFunctionThatTheLibraryLacksCostsItsOwnSlotsOnly(String generation, Set<GpuMetric> missing) {
        GpuFrame frame = sample(SimNode.of(generation, folder));
        for (GpuMetric metric : GpuMetric.values()) {
            boolean noSymbol = frame.absence(GpuFrame.slot(metric)) == Absence.NO_SYMBOL;
            assertThat(noSymbol).as(metric.name()).isEqualTo(missing.contains(metric));
        }
    }

    @Test
    void eachNumberLandsInItsOwnSlot() {
        GpuFrame frame = sample(SimNode.of("615", folder));
        String read = read(
                frame,
                GpuMetric.MEMORY_USED,
                GpuMetric.MEMORY_RESERVED,
                GpuMetric.UTILIZATION_GPU,
                GpuMetric.UTILIZATION_MEMORY,
                GpuMetric.ECC_VOLATILE_CORRECTED,
                GpuMetric.ECC_AGGREGATE_CORRECTED,
                GpuMetric.ECC_VOLATILE_UNCORRECTED,
                GpuMetric.ECC_AGGREGATE_UNCORRECTED,
                GpuMetric.RETIRED_PAGES_SINGLE_BIT,
                GpuMetric.RETIRED_PAGES_DOUBLE_BIT,
                GpuMetric.REMAPPED_ROWS_CORRECTABLE,
                GpuMetric.REMAPPED_ROWS_UNCORRECTABLE,
                GpuMetric.REMAP_BANKS_MAX,
                GpuMetric.REMAP_BANKS_NONE,
                GpuMetric.TEMPERATURE_SHUTDOWN,
                GpuMetric.TEMPERATURE_MAX_OPERATING,
                GpuMetric.CLOCK_SM,
                GpuMetric.CLOCK_MEMORY_MAX,
                GpuMetric.POWER_LIMIT_DEFAULT,
                GpuMetric.VIOLATION_RELIABILITY,
                GpuMetric.PCIE_WIDTH,
                GpuMetric.PCIE_WIDTH_MAX,
                GpuMetric.PCIE_TRANSMITTED,
                GpuMetric.PCIE_RECEIVED,
                GpuMetric.FABRIC_CLIQUE,
                GpuMetric.FABRIC_HEALTH_SUMMARY,
                GpuMetric.NVLINK_LINKS,
                GpuMetric.NVLINK_TRANSMITTED,
                GpuMetric.NVLINK_REPLAYS);
        // Sum over 18 links: of 100 + link, and of 10 * link.
        assertThat(read)
                .isEqualTo("1073741824 606076928 37 12 11 12 13 14 1 2 3 4 640 644 80 83 1401 1982 650000 1000005 8 16"
                        + " 1000001 2000002 5 1 18 1953 1530");
    }

    @ParameterizedTest
    @ValueSource(strings = {"470", "550", "615"})
    void linksReadTheSameByFieldAndByCall(String generation) {
        GpuFrame frame = sample(SimNode.of(generation, folder));
        int link = 13;
        String read = Arrays.stream(LinkMetric.values())
                .map(metric -> String.valueOf(frame.raw(GpuFrame.slot(metric, link))))
                .toList()
                .toString();
        // 470 has a speed for its first twelve links only.
        assertThat(read)
                .isEqualTo(
                        generation.equals("470")
                                ? "[1, 7, 0, 130, 131, 132, 133]"
                                : "[1, 7, 26562, 130, 131, 132, 133]");
        assertThat(frame.raw(GpuFrame.slot(LinkMetric.STATE, 17))).isZero();
        assertThat(frame.present(GpuFrame.slot(LinkMetric.STATE, 17))).isTrue();
        assertThat(frame.absence(GpuFrame.slot(LinkMetric.STATE, 18))).isEqualTo(Absence.NOT_SUPPORTED);
    }

    @Test
    void aTemperatureHasTheSignThatItsCallHas() {
        // nvmlDeviceGetTemperature has none: what it answers below zero is refused as implausible.
        Map.of("470", 4294967291L, "615", -5L).forEach((generation, celsius) -> {
            Path own = folder.resolve(generation);
            assertThat(own.toFile().mkdir()).isTrue();
            GpuFrame frame = sample(SimNode.of(generation, own).set("gpu[0].temp_gpu", -5));
            assertThat(frame.raw(GpuMetric.TEMPERATURE)).as(generation).isEqualTo(celsius);
        });
    }

    @Test
    void readingsWithTheirOwnCallNeedNoFieldValues() {
        GpuFrame frame = sample(SimNode.of("550", folder).error(0, "nvmlDeviceGetFieldValues", 3));
        String read = read(
                frame,
                GpuMetric.ECC_VOLATILE_CORRECTED,
                GpuMetric.ECC_AGGREGATE_UNCORRECTED,
                GpuMetric.RETIRED_PAGES_SINGLE_BIT,
                GpuMetric.RETIRED_PAGES_DOUBLE_BIT,
                GpuMetric.REMAPPED_ROWS_CORRECTABLE,
                GpuMetric.REMAPPED_ROWS_UNCORRECTABLE,
                GpuMetric.ENERGY,
                GpuMetric.PCIE_REPLAYS,
                GpuMetric.POWER_LIMIT_DEFAULT,
                GpuMetric.VIOLATION_POWER);
        assertThat(read).isEqualTo("11 14 1 2 3 4 123456789 9 650000 1000000");
        assertThat(frame.absence(GpuFrame.slot(GpuMetric.NVLINK_LINKS))).isEqualTo(Absence.NOT_SUPPORTED);
        assertThat(frame.absence(GpuFrame.slot(LinkMetric.STATE, 0))).isEqualTo(Absence.NOT_SUPPORTED);
    }

    @Test
    void recoveriesAreReadWhereTheOlderCountersAreGone() {
        SimNode node = SimNode.of("580", folder);
        for (int link = 0; link < 18; link++) {
            for (int counter = 0; counter < 5; counter++) {
                node.set("gpu[0].link[" + link + "].error[" + counter + "]", Long.MIN_VALUE);
            }
            node.set("gpu[0].link[" + link + "].nvl5_counter[14]", link);
        }
        GpuFrame frame = sample(node);
        assertThat(frame.raw(GpuFrame.slot(LinkMetric.RECOVERIES, 9))).isEqualTo(9);
        assertThat(frame.raw(GpuMetric.NVLINK_RECOVERIES)).isEqualTo(17 * 18 / 2);
        assertThat(frame.absence(GpuFrame.slot(LinkMetric.REPLAYS, 9))).isEqualTo(Absence.NOT_SUPPORTED);
    }

    @ParameterizedTest
    @EnumSource(
            value = SamplerPath.class,
            names = {"JNI", "JNA"})
    void licencesOfAllFeaturesAddUpAndNoneIsLeftFromAnEarlierCall(SamplerPath path) {
        SimNode node = SimNode.of("550", folder)
                .set("gpu[0].virtualization", 2)
                .set("gpu[0].vgpu_licensable", 3)
                .set("gpu[0].vgpu_licensed", 3);
        GpuFrame frame = new GpuFrame();
        try (Driver driver = node.open(path);
                Sampler sampler = driver.sampler(0)) {
            sampler.sample(Cadence.SLOW, frame);
            assertThat(licences(frame)).isEqualTo("2 3 3");
            node.set("gpu[0].vgpu_licensable", 1).set("gpu[0].vgpu_licensed", 0);
            sampler.sample(Cadence.SLOW, frame);
            assertThat(licences(frame)).isEqualTo("2 1 0");
        }
    }

    private static String licences(GpuFrame frame) {
        return read(
                frame,
                GpuMetric.VIRTUALIZATION_MODE,
                GpuMetric.VGPU_LICENSABLE_FEATURES,
                GpuMetric.VGPU_LICENSED_FEATURES);
    }

    @Test
    void impossibleLinkCountIsRefused() {
        GpuFrame frame = sample(SimNode.of("550", folder).set("gpu[0].nvlink_count", 808334905));
        assertThat(frame.absence(GpuFrame.slot(LinkMetric.STATE, 0))).isEqualTo(Absence.IMPLAUSIBLE);
    }

    private static String read(GpuFrame frame, GpuMetric... metrics) {
        StringBuilder read = new StringBuilder();
        for (GpuMetric metric : metrics) {
            read.append(read.isEmpty() ? "" : " ")
                    .append(frame.present(metric) ? frame.raw(metric) : frame.absence(GpuFrame.slot(metric)));
        }
        return read.toString();
    }

    private static GpuFrame sample(SimNode node) {
        GpuFrame frame = new GpuFrame();
        try (Driver driver = node.open(SamplerPath.JNI);
                Sampler sampler = driver.sampler(0)) {
            sampler.sample(Cadence.FAST, frame);
            sampler.sample(Cadence.SLOW, frame);
        }
        return frame;
    }

    @Test
    void aLineThatIsNoStepIsRefusedAndQuoted() {
        for (String line :
                List.of("POWER_USAGE OUT", "POWER_USAGE IN: U32 0 ENERGY", "POWER_USAGE OUT: U32 x ENERGY")) {
            assertThatThrownBy(() -> TelemetryPlan.parse("FAST\n" + line + "\n"))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageStartingWith("plan.txt: ")
                    .hasMessageEndingWith(line);
        }
    }
}
