package dev.gpuwarden.testkit.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/** Looks again and again, up to three minutes: a machine that is busy takes its time. */
final class Await {

    private static final Duration LIMIT = Duration.ofMinutes(3);

    private Await() {}

    static void until(BooleanSupplier condition, Supplier<String> otherwise) {
        long end = System.nanoTime() + LIMIT.toNanos();
        boolean holds = condition.getAsBoolean();
        while (!holds && System.nanoTime() < end) {
            LockSupport.parkNanos(50_000_000);
            holds = condition.getAsBoolean();
        }
        assertThat(holds).as(otherwise).isTrue();
    }
}
