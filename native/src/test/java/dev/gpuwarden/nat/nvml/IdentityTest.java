package dev.gpuwarden.nat.nvml;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.GpuIdentity.MigDevice;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.model.Reading.Absent;
import dev.gpuwarden.core.model.Reading.Present;
import dev.gpuwarden.core.port.Driver;
import dev.gpuwarden.core.port.Driver.Sampler;
import dev.gpuwarden.core.port.DriverOptions.SamplerPath;
import dev.gpuwarden.core.port.Refusal;
import dev.gpuwarden.core.telemetry.Cadence;
import dev.gpuwarden.core.telemetry.GpuFrame;
import dev.gpuwarden.core.telemetry.GpuMetric;
import dev.gpuwarden.nat.sim.SimNode;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class IdentityTest {

    @TempDir
    Path folder;

    @Test
    void identityOfAGpuIsRead() {
        GpuIdentity gpu = gpus(SimNode.of("550", folder)).get(1);
        assertThat(gpu.selector()).isEqualTo("GPU-6f1a0000-1111-2222-3333-444455550001");
        assertThat(gpu.pci().asOptional()).hasValueSatisfying(p -> assertThat(p).hasToString("0000:2b:00.0"));
        assertThat(gpu.minor()).isEqualTo(Reading.of(1));
        assertThat(gpu.name()).isEqualTo(Reading.of("NVIDIA H100 80GB HBM3"));
        assertThat(gpu.serial()).isEqualTo(Reading.of("1653021000001"));
        assertThat(gpu.vbios()).isEqualTo(Reading.of("96.00.61.00.01"));
        assertThat(gpu.boardPart()).isEqualTo(Reading.of("692-2G520-0200-000"));
        assertThat(gpu.computeCapability()).isEqualTo(Reading.of("9.0"));
        assertThat(gpu.numaNode()).isEqualTo(Reading.of(0));
        assertThat(gpu.migMode()).isEqualTo(Reading.of(false));
    }

    @Test
    void aFunctionThatTheDriverLacksIsNamed() {
        assertThat(gpus(SimNode.of("470", folder)).get(0).numaNode())
                .isEqualTo(Reading.absent(Absence.NO_SYMBOL, 0, "nvmlDeviceGetNumaNodeId"));
    }

    @Test
    void aLostGpuKeepsItsPlaceInTheList() {
        List<GpuIdentity> gpus = gpus(SimNode.of("550", folder).set("gpu[0].state", "STATE_LOST"));
        assertThat(gpus).hasSize(2);
        assertThat(gpus.get(0).uuid())
                .isInstanceOfSatisfying(Absent.class, a -> assertThat(a.cause()).isEqualTo(Absence.GPU_LOST));
        assertThat(gpus.get(0).label()).isEqualTo("GPU 0");
        assertThat(gpus.get(1).uuid()).isInstanceOf(Present.class);
    }

    @Test
    void unprintableUuidIsRefused() {
        SimNode node = SimNode.of("550", folder).lie(0, "nvmlDeviceGetUUID", "LIE_NOT_UTF8");
        try (Driver driver = node.open(SamplerPath.AUTO)) {
            List<GpuIdentity> gpus = ((Present<List<GpuIdentity>>) driver.enumerate()).value();
            assertThat(gpus.get(0).uuid())
                    .isInstanceOfSatisfying(
                            Absent.class, a -> assertThat(a.cause()).isEqualTo(Absence.IMPLAUSIBLE));
            assertThat(driver.refusals()).extracting(Refusal::function).contains("nvmlDeviceGetUUID");
        }
    }

    @Test
    void aNameWithoutItsEndIsReadToTheEndOfItsBuffer() {
        SimNode node = SimNode.of("550", folder).lie(0, "nvmlDeviceGetName", "LIE_UNTERMINATED");
        assertThat(gpus(node).get(0).name().asOptional())
                .hasValueSatisfying(name -> assertThat(name.length()).isBetween(1, 96));
    }

    @Test
    void impossibleCountIsRefused() {
        SimNode node = SimNode.of("550", folder).lie(0, "nvmlDeviceGetCount_v2", "LIE_U32_MAX");
        try (Driver driver = node.open(SamplerPath.AUTO)) {
            assertThat(driver.enumerate())
                    .isInstanceOfSatisfying(
                            Absent.class, a -> assertThat(a.cause()).isEqualTo(Absence.IMPLAUSIBLE));
        }
    }

    @Test
    void aGpuThatComesBackIsSeenAfterInitialisingAgain() {
        SimNode node = SimNode.of("550", folder).set("gpu[0].state", "STATE_HIDDEN");
        try (Driver driver = node.open(SamplerPath.AUTO)) {
            assertThat(driver.enumerate().asOptional().orElseThrow()).hasSize(1);
            node.set("gpu[0].state", "STATE_OK");
            assertThat(driver.reinitialise()).isEqualTo(Reading.of(true));
            assertThat(driver.enumerate().asOptional().orElseThrow()).hasSize(2);
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = SamplerPath.class,
            names = {"JNI", "JNA"})
    void aSamplerFollowsItsGpuWhenTheIndexChanges(SamplerPath path) {
        SimNode node = SimNode.of("550", folder).set("gpu[1].temp_gpu", 77);
        try (Driver driver = node.open(path);
                Sampler second = driver.sampler(1)) {
            GpuFrame frame = new GpuFrame();
            second.sample(Cadence.FAST, frame);
            node.set("gpu[0].state", "STATE_HIDDEN");
            driver.reinitialise();
            second.sample(Cadence.FAST, frame);
            assertThat(frame.raw(GpuMetric.TEMPERATURE)).isEqualTo(77);
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = SamplerPath.class,
            names = {"JNI", "JNA"})
    void shutDownLibraryIsNotALostGpu(SamplerPath path) {
        SimNode node = SimNode.of("550", folder);
        try (Driver driver = node.open(path);
                Sampler sampler = driver.sampler(0)) {
            GpuFrame frame = new GpuFrame();
            sampler.sample(Cadence.FAST, frame);
            node.set("header.init_result", 999);
            assertThat(driver.reinitialise()).isInstanceOf(Absent.class);
            sampler.sample(Cadence.FAST, frame);
            assertThat(frame.absence(GpuFrame.slot(GpuMetric.TEMPERATURE))).isEqualTo(Absence.FAILED);
            assertThat(frame.code(GpuFrame.slot(GpuMetric.TEMPERATURE))).isEqualTo(NvmlReturn.UNINITIALIZED);
            node.set("header.init_result", 0);
            driver.reinitialise();
            sampler.sample(Cadence.FAST, frame);
            assertThat(frame.present(GpuMetric.TEMPERATURE)).isTrue();
        }
    }

    @Test
    void partitionsAreListedAcrossHolesWithTheirProfiles() {
        SimNode node = SimNode.of("550", folder).partition(0, 1, 0).partition(4, 2, 0);
        List<MigDevice> mig = gpus(node).get(0).mig();
        assertThat(mig).extracting(MigDevice::index).containsExactly(0, 4);
        assertThat(mig).extracting(MigDevice::uuid).allMatch(uuid -> uuid.startsWith("MIG-"));
        assertThat(mig).extracting(MigDevice::profile).containsOnly(Reading.of("1g.10gb"));
        assertThat(mig).extracting(MigDevice::gpuInstance).containsExactly(Reading.of(1), Reading.of(2));
    }

    @ParameterizedTest
    @EnumSource(
            value = SamplerPath.class,
            names = {"JNI", "JNA"})
    void aPartitionHasMemoryAndLittleElse(SamplerPath path) {
        SimNode node = SimNode.of("550", folder).partition(4, 2, 0);
        try (Driver driver = node.open(path);
                Sampler sampler = driver.migSampler(0, 4)) {
            GpuFrame frame = new GpuFrame();
            sampler.sample(Cadence.FAST, frame);
            assertThat(frame.raw(GpuMetric.MEMORY_TOTAL)).isEqualTo(10L << 30);
            assertThat(frame.absence(GpuFrame.slot(GpuMetric.UTILIZATION_GPU))).isEqualTo(Absence.NOT_SUPPORTED);
        }
    }

    private static List<GpuIdentity> gpus(SimNode node) {
        try (Driver driver = node.open(SamplerPath.AUTO)) {
            return ((Present<List<GpuIdentity>>) driver.enumerate()).value();
        }
    }
}
