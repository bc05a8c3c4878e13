package dev.gpuwarden.testkit.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/** Looks again and again, up to three minutes: a machine that is busy takes its time. */
final class Await {

    private Await() {}

    static void until(BooleanSupplier condition, Supplier<String> otherwise) {
        for (int i = 0; i < 3_600 && !condition.getAsBoolean(); i++) {
            LockSupport.parkNanos(50_000_000);
        }
        assertThat(condition.getAsBoolean()).as(otherwise).isTrue();
    }
}
