package dev.gpuwarden.nat.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.port.Driver;
import dev.gpuwarden.core.port.Driver.Sampler;
import dev.gpuwarden.core.port.DriverOptions.SamplerPath;
import dev.gpuwarden.core.telemetry.Cadence;
import dev.gpuwarden.core.telemetry.GpuFrame;
import dev.gpuwarden.nat.sim.SimNode;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Both interpreters of the plan give the same bytes, on every driver generation, healthy, broken and lying. */
class SamplerEqualityTest {

    @TempDir
    Path folder;

    static Stream<String> generations() {
        return SimNode.GENERATIONS.stream();
    }

    @ParameterizedTest
    @MethodSource("generations")
    void healthyGpusReadTheSame(String generation) {
        compare(SimNode.of(generation, folder));
    }

    @ParameterizedTest
    @MethodSource("generations")
    void lostGpusReadTheSame(String generation) {
        compare(SimNode.of(generation, folder).set("gpu[0].state", "STATE_LOST"));
    }

    @ParameterizedTest
    @MethodSource("generations")
    void gpusThatNeedAResetReadTheSame(String generation) {
        compare(SimNode.of(generation, folder).set("gpu[0].state", "STATE_RESET_REQUIRED"));
    }

    @ParameterizedTest
    @MethodSource("lies")
    void lyingFieldValuesReadTheSame(String lie) {
        compare(SimNode.of("580", folder).lie(0, "nvmlDeviceGetFieldValues", lie));
    }

    @ParameterizedTest
    @MethodSource("lies")
    void aLibraryThatLiesAboutEverythingReadsTheSame(String lie) {
        compare(SimNode.of("550", folder).lie(0, "ALL", lie));
    }

    @ParameterizedTest
    @MethodSource("codes")
    void aLibraryWithoutFieldValuesReadsTheSameByItsFallBacks(int code) {
        compare(SimNode.of("550", folder).error(0, "nvmlDeviceGetFieldValues", code));
    }

    @ParameterizedTest
    @MethodSource("codes")
    void aLibraryThatAnswersNothingButErrorsReadsTheSame(int code) {
        SimNode node = SimNode.of("615", folder);
        compare(node, () -> node.error(0, "ALL", code));
    }

    static Stream<String> lies() {
        return Stream.of("LIE_U32_MAX", "LIE_808334905", "LIE_ZERO", "LIE_NAN", "LIE_VALUE_TYPE");
    }

    static Stream<Integer> codes() {
        return Stream.of(1, 2, 3, 4, 6, 7, 13, 15, 16, 25, 27, 30, 999, -1);
    }

    private void compare(SimNode node) {
        compare(node, () -> {});
    }

    private void compare(SimNode node, Runnable thenHappens) {
        try (Driver jna = node.open(SamplerPath.JNA);
                Driver jni = node.open(SamplerPath.JNI)) {
            assertThat(jni.info().samplerPath()).isEqualTo("jni");
            for (int gpu = 0; gpu < 2; gpu++) {
                try (Sampler inJava = jna.sampler(gpu);
                        Sampler inC = jni.sampler(gpu)) {
                    inJava.sample(Cadence.FAST, new GpuFrame());
                    inC.sample(Cadence.FAST, new GpuFrame());
                    thenHappens.run();
                    assertSame(inJava, inC);
                    assertSame(inJava, inC);
                }
            }
        }
    }

    private static void assertSame(Sampler inJava, Sampler inC) {
        for (Cadence cadence : Cadence.values()) {
            GpuFrame expected = new GpuFrame();
            GpuFrame actual = new GpuFrame();
            inJava.sample(cadence, expected);
            inC.sample(cadence, actual);
            for (int slot = 0; slot < GpuFrame.SLOTS; slot++) {
                assertThat(actual.absence(slot)).as("%s slot %s", cadence, slot).isEqualTo(expected.absence(slot));
            }
            assertThat(actual.calls()).isEqualTo(expected.calls());
            assertThat(slots(actual)).as("%s", cadence).isEqualTo(slots(expected));
        }
    }

    private static ByteBuffer slots(GpuFrame frame) {
        return frame.buffer().slice(GpuFrame.HEADER_BYTES, GpuFrame.BYTES - GpuFrame.HEADER_BYTES);
    }
}
