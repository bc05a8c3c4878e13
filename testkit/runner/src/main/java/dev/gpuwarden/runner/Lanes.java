package dev.gpuwarden.runner;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;

/** Runs jobs in parallel. A free lane takes the first job that may run beside the running ones. */
final class Lanes {

    private final List<Job> waiting;
    private final Set<String> alone = new HashSet<>();
    private final List<Outcome> outcomes = new ArrayList<>();
    private final Function<Job, Outcome> run;

    private Lanes(List<Job> jobs, Function<Job, Outcome> run) {
        this.waiting = new ArrayList<>(jobs);
        this.run = run;
    }

    /**
     * Blocks until all jobs have ended.
     *
     * @param count how many run at a time
     * @param run blocks until a job has ended; called in the threads of the lanes
     * @return in the order of their ends
     */
    static List<Outcome> run(int count, List<Job> jobs, Function<Job, Outcome> run) throws InterruptedException {
        Lanes lanes = new Lanes(jobs, run);
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Thread thread = new Thread(lanes::lane, "lane-" + i);
            thread.start();
            threads.add(thread);
        }
        for (Thread thread : threads) {
            thread.join();
        }
        return lanes.outcomes;
    }

    private void lane() {
        for (Job job = next(); job != NONE; job = next()) {
            Outcome outcome = run.apply(job);
            done(outcome);
        }
    }

    private static final Job NONE = new Job(Tier.UNIT, "", "", List.of());

    /** Returns the next job; waits while all jobs that are left exclude a running one. */
    private synchronized Job next() {
        while (!waiting.isEmpty()) {
            for (Job job : waiting) {
                if (job.alone().isEmpty() || !alone.contains(job.alone())) {
                    waiting.remove(job);
                    alone.add(job.alone());
                    return job;
                }
            }
            try {
                wait();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return NONE;
            }
        }
        return NONE;
    }

    private synchronized void done(Outcome outcome) {
        alone.remove(outcome.job().alone());
        outcomes.add(outcome);
        notifyAll();
    }
}
