package dev.gpuwarden.runner;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.runner.Suite.Lanes;
import dev.gpuwarden.runner.jvm.Tier;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

class LanesTest {

    private static Job job(String name, String alone) {
        return new Job(Tier.API, name, alone, List.of());
    }

    private static Outcome outcome(Job job) {
        return new Outcome(job, List.of(), 0, Path.of("log"));
    }

    @Test
    void twoRunAtATime() throws InterruptedException {
        CountDownLatch both = new CountDownLatch(2);
        AtomicBoolean met = new AtomicBoolean(true);
        Lanes.run(2, List.of(job("a", ""), job("b", "")), job -> {
            both.countDown();
            try {
                met.compareAndSet(true, both.await(10, TimeUnit.SECONDS));
            } catch (InterruptedException e) {
                met.set(false);
            }
            return outcome(job);
        });
        assertThat(met).isTrue();
    }

    @Test
    void jobsOfOneWordNeverRunSideBySideAndAllRun() throws InterruptedException {
        List<Job> jobs = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            jobs.add(job("nodes" + i, "nodes"));
            jobs.add(job("free" + i, ""));
        }
        Set<String> running = ConcurrentHashMap.newKeySet();
        AtomicBoolean clash = new AtomicBoolean();
        List<Outcome> outcomes = Lanes.run(3, jobs, job -> {
            if (!job.alone().isEmpty() && !running.add(job.alone())) {
                clash.set(true);
            }
            Thread.yield();
            running.remove(job.alone());
            return outcome(job);
        });
        assertThat(clash).isFalse();
        assertThat(outcomes).extracting(Outcome::job).containsExactlyInAnyOrderElementsOf(jobs);
    }
}
