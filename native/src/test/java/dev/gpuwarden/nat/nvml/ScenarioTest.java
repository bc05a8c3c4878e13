package dev.gpuwarden.nat.nvml;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.port.Driver;
import dev.gpuwarden.core.port.Driver.Sampler;
import dev.gpuwarden.core.port.DriverOptions;
import dev.gpuwarden.core.port.DriverOptions.SamplerPath;
import dev.gpuwarden.core.port.Opening;
import dev.gpuwarden.core.telemetry.Cadence;
import dev.gpuwarden.core.telemetry.GpuFrame;
import dev.gpuwarden.core.telemetry.GpuMetric;
import dev.gpuwarden.core.telemetry.Plausibility;
import dev.gpuwarden.nat.driver.NvmlProvider;
import dev.gpuwarden.testkit.sim.SimulatedNode;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The boards that come with the testkit, from Turing to Blackwell, whole and partitioned. */
class ScenarioTest {

    @ParameterizedTest
    @ValueSource(
            strings = {"t4", "l4x4", "a100x8", "a100-mig", "h100x8", "h200x8", "b200x8", "driver-470", "driver-535.54"})
    void everyHealthyBoardIsReadWithoutAnythingImplausible(String scenario) {
        try (SimulatedNode node = SimulatedNode.start(scenario);
                Driver driver = open(node)) {
            List<GpuIdentity> gpus = driver.enumerate().asOptional().orElseThrow();
            assertThat(gpus).hasSize(node.control().gpuCount());
            for (GpuIdentity gpu : gpus) {
                assertThat(driver.processes(gpu.index()).asOptional()).isPresent();
                readWithoutRefusal(driver.sampler(gpu.index()));
                gpu.mig().forEach(mig -> readWithoutRefusal(driver.migSampler(gpu.index(), mig.index())));
            }
            assertThat(driver.refusals()).isEmpty();
        }
    }

    private static void readWithoutRefusal(Sampler opened) {
        GpuFrame frame = new GpuFrame();
        try (Sampler sampler = opened) {
            for (Cadence cadence : Cadence.values()) {
                sampler.sample(cadence, frame);
                assertThat(Plausibility.refuse(frame, cadence)).isZero();
            }
        }
        assertThat(frame.present(GpuMetric.MEMORY_USED)).isTrue();
    }

    private static Driver open(SimulatedNode node) {
        Opening<Driver> opening = new NvmlProvider()
                .open(new DriverOptions(List.of(node.libraryPath().toString()), SamplerPath.AUTO));
        assertThat(opening).isInstanceOf(Opening.Opened.class);
        return ((Opening.Opened<Driver>) opening).driver();
    }
}
