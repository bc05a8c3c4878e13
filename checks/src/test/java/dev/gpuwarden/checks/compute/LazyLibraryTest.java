package dev.gpuwarden.checks.compute;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.port.ComputeDriver;
import dev.gpuwarden.core.port.ComputeProvider;
import dev.gpuwarden.core.port.DriverOptions;
import dev.gpuwarden.core.port.DriverOptions.SamplerPath;
import dev.gpuwarden.core.port.Opening;
import dev.gpuwarden.core.port.Opening.Opened;
import dev.gpuwarden.core.port.Opening.Reason;
import dev.gpuwarden.core.port.Opening.Unavailable;
import dev.gpuwarden.testkit.Await;
import dev.gpuwarden.testkit.sim.SimulatedNode;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.ServiceLoader;
import java.util.concurrent.CountDownLatch;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LazyLibraryTest {

    private static final SimulatedNode NODE = SimulatedNode.start("t4");
    private static final Opened<ComputeDriver> OPENED =
            (Opened<ComputeDriver>) ServiceLoader.load(ComputeProvider.class)
                    .findFirst()
                    .orElseThrow()
                    .open(new DriverOptions(List.of(NODE.libraryPath().toString()), SamplerPath.AUTO));

    @AfterAll
    static void end() {
        NODE.close();
    }

    private static LazyLibrary<ComputeDriver> lazy(Duration deadline, Supplier<Opening<ComputeDriver>> open) {
        return new LazyLibrary<>("CUDA", open, deadline);
    }

    @ParameterizedTest
    @CsvSource({
        "LIBRARY_MISSING, NOT_SUPPORTED",
        "NO_PERMISSION, NO_PERMISSION",
        "LIBRARY_UNUSABLE, FAILED",
        "FAILED, FAILED"
    })
    void missingDriverIsAbsentWithItsCause(Reason reason, Absence cause) {
        assertThat(lazy(Duration.ofSeconds(10), () -> new Unavailable<>(reason, 7, "why"))
                        .get())
                .isEqualTo(Reading.absent(cause, 7, "why"));
    }

    @Test
    void failedOpeningIsRepeatedAndAnOpenDriverIsKept() {
        Deque<Opening<ComputeDriver>> answers =
                new ArrayDeque<>(List.of(new Unavailable<>(Reason.FAILED, 1, "not yet"), OPENED));
        LazyLibrary<ComputeDriver> lazy = lazy(Duration.ofSeconds(10), answers::remove);
        assertThat(lazy.get()).isInstanceOf(Reading.Absent.class);
        assertThat(lazy.get()).isEqualTo(Reading.of(OPENED.driver()));
        assertThat(lazy.get()).as("a third opening would fail").isEqualTo(Reading.of(OPENED.driver()));
    }

    @Test
    void openingThatHangsIsStaleAndIsNotStartedTwice() {
        CountDownLatch answer = new CountDownLatch(1);
        Deque<Opening<ComputeDriver>> answers = new ArrayDeque<>(List.of(OPENED));
        LazyLibrary<ComputeDriver> lazy = lazy(Duration.ofMillis(20), () -> {
            awaitUninterrupted(answer);
            return answers.remove();
        });
        for (int i = 0; i < 2; i++) {
            assertThat(lazy.get())
                    .isInstanceOfSatisfying(
                            Reading.Absent.class,
                            absent -> assertThat(absent.cause()).isEqualTo(Absence.STALE));
        }
        answer.countDown();
        Await.until(() -> lazy.get().equals(Reading.of(OPENED.driver())));
    }

    private static void awaitUninterrupted(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
