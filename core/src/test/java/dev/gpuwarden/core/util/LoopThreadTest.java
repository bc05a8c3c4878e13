package dev.gpuwarden.core.util;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

class LoopThreadTest {

    private static final Duration LONG = Duration.ofSeconds(30);

    private final LinkedBlockingQueue<String> seen = new LinkedBlockingQueue<>();
    private final List<Long> pauses = new ArrayList<>();

    private long turn() {
        seen.add("turn");
        return pauses.isEmpty() ? LoopThread.UNTIL_WOKEN : pauses.remove(0);
    }

    private String next() throws InterruptedException {
        return String.valueOf(seen.poll(LONG.toSeconds(), TimeUnit.SECONDS));
    }

    @Test
    void turnsFollowAPauseOrAWake() throws InterruptedException {
        pauses.add(1L);
        LoopThread thread = new LoopThread("work", this::turn).start();
        assertThat(List.of(next(), next())).containsOnly("turn");
        assertThat(seen.poll(50, TimeUnit.MILLISECONDS))
                .as("a third turn needs a wake")
                .isNull();
        thread.wake();
        assertThat(next()).isEqualTo("turn");
        assertThat(thread.isClosed()).isFalse();
        thread.close(LONG);
        assertThat(thread.isClosed()).isTrue();
        assertThat(thread.join(Duration.ZERO)).isTrue();
        assertThat(seen).isEmpty();
        assertThat(thread).hasToString("work");
    }

    @Test
    void aWakeDuringATurnIsKept() throws InterruptedException {
        AtomicReference<LoopThread> self = new AtomicReference<>();
        pauses.addAll(List.of(LoopThread.UNTIL_WOKEN, LoopThread.ENDED));
        LoopThread thread = new LoopThread("work", 0, () -> {
            self.get().wake();
            return turn();
        });
        self.set(thread);
        thread.start();
        assertThat(thread.join(LONG)).isTrue();
        assertThat(seen).hasSize(2);
    }

    @Test
    void aClosedThreadTakesNoTurnAndDoesItsLastWork() {
        LoopThread thread = new LoopThread("work", this::turn).atEnd(() -> seen.add("end"));
        thread.end();
        thread.start().close(LONG);
        assertThat(seen).containsExactly("end");
    }

    @Test
    void aThreadThatNeverStartedCloses() {
        LoopThread thread = new LoopThread("work", this::turn);
        thread.interrupt(LONG);
        assertThat(thread.join(LONG)).isTrue();
    }

    @Test
    void closingEndsAPauseAndDoesNotInterrupt() throws InterruptedException {
        AtomicReference<LoopThread> self = new AtomicReference<>();
        LoopThread thread = new LoopThread("work", () -> {
            seen.add("begin");
            self.get().pause(LoopThread.UNTIL_WOKEN);
            seen.add("interrupted " + Thread.currentThread().isInterrupted());
            return LoopThread.UNTIL_WOKEN;
        });
        self.set(thread);
        thread.start();
        assertThat(next()).isEqualTo("begin");
        thread.wake();
        thread.close(LONG);
        assertThat(seen).containsExactly("interrupted false");
    }

    @Test
    void anInterruptEndsTheTurnAndNotTheLastWork() throws InterruptedException {
        LoopThread thread = new LoopThread("work", () -> {
                    seen.add("begin");
                    new CountDownLatch(1).await();
                    return 0;
                })
                .atEnd(() -> seen.add("interrupted " + Thread.currentThread().isInterrupted()))
                .start();
        assertThat(next()).isEqualTo("begin");
        thread.interrupt(LONG);
        assertThat(seen).containsExactly("interrupted false");
    }

    @Test
    void theLastWorkIsNeverInterrupted() throws InterruptedException {
        CountDownLatch go = new CountDownLatch(1);
        pauses.add(LoopThread.ENDED);
        LoopThread thread = new LoopThread("work", this::turn)
                .atEnd(() -> {
                    seen.add("end");
                    try {
                        go.await();
                        seen.add("done");
                    } catch (InterruptedException e) {
                        seen.add("interrupted");
                    }
                })
                .start();
        assertThat(List.of(next(), next())).containsExactly("turn", "end");
        thread.interrupt(Duration.ZERO);
        go.countDown();
        assertThat(thread.join(LONG)).isTrue();
        assertThat(seen).containsExactly("done");
    }

    @Test
    void anExceptionDoesNotEndTheThread() throws InterruptedException {
        LoopThread thread = new LoopThread(
                        "work",
                        0,
                        () -> {
                            seen.add("turn");
                            throw new IllegalStateException("a defect of the turn");
                        },
                        1)
                .atEnd(() -> {
                    throw new IllegalStateException("a defect of the end");
                })
                .start();
        assertThat(List.of(next(), next(), next())).containsOnly("turn");
        thread.close(LONG);
        assertThat(thread.join(LONG)).isTrue();
    }

    @Test
    void anErrorEndsTheThreadAndReachesItsHandler() throws InterruptedException {
        Thread.UncaughtExceptionHandler before = Thread.getDefaultUncaughtExceptionHandler();
        Thread.setDefaultUncaughtExceptionHandler((thread, cause) -> seen.add(thread.getName() + ": " + cause));
        try {
            LoopThread thread = new LoopThread("work", () -> {
                        throw new AssertionError("an error");
                    })
                    .start();
            assertThat(next()).isEqualTo("work: java.lang.AssertionError: an error");
            assertThat(thread.join(LONG)).isTrue();
        } finally {
            Thread.setDefaultUncaughtExceptionHandler(before);
        }
    }

    @Test
    void onlyAClosedThreadEndsByAnInterrupt() throws InterruptedException {
        LoopThread thread = new LoopThread("work", () -> {
            if (pauses.isEmpty()) {
                pauses.add(LoopThread.UNTIL_WOKEN);
                Thread.currentThread().interrupt();
            }
            return turn();
        });
        thread.start();
        assertThat(List.of(next(), next())).containsOnly("turn");
        thread.close(LONG);
        assertThat(thread.join(LONG)).isTrue();
    }

    @Test
    void anErrorSkipsTheLastWork() {
        AtomicReference<Throwable> uncaught = new AtomicReference<>();
        LoopThread thread = new LoopThread("work", () -> {
            Thread.currentThread().setUncaughtExceptionHandler((any, error) -> uncaught.set(error));
            throw new AssertionError("a bug");
        });
        thread.atEnd(() -> seen.add("end")).start();
        assertThat(thread.join(LONG)).isTrue();
        assertThat(uncaught.get()).hasMessage("a bug");
        assertThat(seen).isEmpty();
    }
}
