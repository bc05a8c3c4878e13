package dev.gpuwarden.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class AwaitTest {

    @Test
    void returnsWhenConditionHolds() {
        AtomicInteger calls = new AtomicInteger();
        CompletableFuture<String> work = CompletableFuture.supplyAsync(() -> "done");
        Await.until(() -> calls.incrementAndGet() > 3 && work.isDone());
        assertThat(calls).hasValueGreaterThan(3);
    }

    @Test
    void failsAfterLimitWithExpectedCondition() {
        assertThatThrownBy(() -> Await.until(() -> false, Duration.ofMillis(10), () -> "two nodes, saw one"))
                .isInstanceOf(AssertionError.class)
                .hasMessage("expected within 0.01 s: two nodes, saw one");
    }

    @Test
    void failsWhenThreadIsInterrupted() {
        Thread.currentThread().interrupt();
        try {
            assertThatThrownBy(() -> Await.until(() -> false, "an answer"))
                    .isInstanceOf(AssertionError.class)
                    .hasMessage("interrupted while waiting for: an answer");
        } finally {
            assertThat(Thread.interrupted()).isTrue();
        }
    }
}
