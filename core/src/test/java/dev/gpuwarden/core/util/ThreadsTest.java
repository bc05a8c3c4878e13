package dev.gpuwarden.core.util;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import org.junit.jupiter.api.Test;

class ThreadsTest {

    @Test
    void threadIsADaemonWithItsNameAndNotStarted() {
        Thread thread = Threads.daemon("work", () -> {});
        assertThat(thread.isDaemon()).isTrue();
        assertThat(thread.getName()).isEqualTo("work");
        assertThat(thread.getState()).isEqualTo(Thread.State.NEW);
    }

    @Test
    void factoriesNameTheirThreads() {
        assertThat(Threads.daemon("work").newThread(() -> {}).getName()).isEqualTo("work");
        ThreadFactory numbered = Threads.numbered("work");
        assertThat(numbered.newThread(() -> {}).getName()).isEqualTo("work-1");
        Thread second = numbered.newThread(() -> {});
        assertThat(second.getName()).isEqualTo("work-2");
        assertThat(second.isDaemon()).isTrue();
    }

    @Test
    void aPoolHasNoThreadAtRestAndABound() {
        ThreadPoolExecutor pool = Threads.pool(2, new ArrayBlockingQueue<>(3), Threads.daemon("work"));
        assertThat(pool.getPoolSize()).isZero();
        assertThat(pool.getMaximumPoolSize()).isEqualTo(2);
        assertThat(pool.allowsCoreThreadTimeOut()).isTrue();
        assertThat(pool.getQueue().remainingCapacity()).isEqualTo(3);
        pool.shutdownNow();
    }
}
