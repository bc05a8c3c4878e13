package dev.gpuwarden.aggregator.controller;

import static dev.gpuwarden.testkit.Await.until;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class WorkQueueTest {

    private final List<String> done = new CopyOnWriteArrayList<>();

    @Test
    void nameAddedDuringItsReconcileIsReconciledOnceMore() {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        try (WorkQueue rounds = new WorkQueue("thing", 4).run(name -> {
            begun.countDown();
            go.await();
            done.add(name);
        })) {
            rounds.begin();
            rounds.add("a");
            until(() -> begun.getCount() == 0, "it has begun");
            for (int i = 0; i < 10; i++) {
                rounds.add("a");
            }
            assertThat(rounds.size()).isEqualTo(1);
            go.countDown();
            until(() -> rounds.size() == 0, "it is done");
            assertThat(done).containsExactly("a", "a");
        }
    }

    @Test
    void interruptedNameAddedAgainIsReconciledOnceMore() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch interrupted = new CountDownLatch(1);
        CountDownLatch leave = new CountDownLatch(1);
        try (WorkQueue rounds = new WorkQueue("thing", 1).run(name -> {
            if (begun.getCount() == 0) {
                done.add(name);
                return;
            }
            begun.countDown();
            try {
                new CountDownLatch(1).await();
            } catch (InterruptedException e) {
                interrupted.countDown();
                leave.await();
                throw e;
            }
        })) {
            rounds.begin();
            rounds.add("a");
            begun.await();
            rounds.end();
            interrupted.await();
            rounds.begin();
            rounds.add("a");
            leave.countDown();
            until(() -> done.contains("a"), "it is worked on once more");
        }
    }

    @Test
    void failedNameIsRetriedAndDelaysNoOtherName() {
        AtomicInteger tries = new AtomicInteger();
        try (WorkQueue rounds = new WorkQueue("thing", 1).run(name -> {
            if (name.equals("bad") && tries.incrementAndGet() < 3) {
                throw new IllegalStateException("not yet");
            }
            done.add(name);
        })) {
            rounds.begin();
            rounds.add("bad");
            rounds.add("good");
            until(() -> done.contains("good"), "the other one is done");
            assertThat(rounds.failing()).isEqualTo(1);
            until(() -> done.contains("bad"), "it is done in the end");
            until(() -> rounds.failing() == 0, "nothing fails any more");
            assertThat(tries).hasValue(3);
        }
    }

    @Test
    void endedQueueTakesNoNamesDropsWaitingOnesAndInterruptsWorkers() {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        try (WorkQueue rounds = new WorkQueue("thing", 1).run(name -> {
            begun.countDown();
            go.await();
            done.add(name);
        })) {
            rounds.add("before");
            rounds.begin();
            rounds.add("working");
            until(() -> begun.getCount() == 0, "it has begun");
            rounds.add("waiting");
            rounds.end();
            rounds.add("after");
            until(() -> rounds.size() == 0, "nothing is left");
            go.countDown();
            rounds.begin();
            rounds.add("again");
            until(() -> done.contains("again"), "it is open again");
            assertThat(done).containsExactly("again");
        }
    }

    @Test
    void lastDelayOfNameReplacesTheOneBeforeAndEndDropsIt() {
        try (WorkQueue queue = new WorkQueue("thing", 1).run(done::add)) {
            queue.begin();
            // Long enough for a slow machine to end before, and over before "b" is due.
            queue.addAfter("a", Duration.ofMillis(400));
            queue.addAfter("a", Duration.ofMillis(500));
            queue.addAfter("forgotten", Duration.ofMillis(500));
            queue.end();
            queue.begin();
            queue.addAfter("b", Duration.ofHours(1));
            queue.addAfter("b", Duration.ofMillis(800));
            until(() -> done.contains("b"), "b is reconciled");
            assertThat(done).containsExactly("b");
        }
    }
}
