package dev.gpuwarden.daemon.grpc;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class CachedSupplierTest {

    @Test
    void theValueIsComputedAgainOnlyAfterItExpires() {
        AtomicInteger made = new AtomicInteger();
        AtomicLong clock = new AtomicLong(-5);
        CachedSupplier<Integer> recent = new CachedSupplier<>(made::incrementAndGet, Duration.ofNanos(10), clock::get);
        assertThat(recent.get()).isEqualTo(1);
        clock.set(4);
        assertThat(recent.get()).isEqualTo(1);
        clock.set(5);
        assertThat(recent.get()).isEqualTo(2);
        assertThat(recent.get()).isEqualTo(2);
    }
}
