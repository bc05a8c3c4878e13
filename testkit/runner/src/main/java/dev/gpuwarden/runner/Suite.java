package dev.gpuwarden.runner;

import dev.gpuwarden.runner.compile.Workspace;
import dev.gpuwarden.runner.jvm.Line;
import dev.gpuwarden.runner.jvm.Selection;
import dev.gpuwarden.runner.jvm.Tier;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/** Runs the jobs of `jobs.tsv` in lanes, and reports. */
record Suite(Workspace workspace, Console console) {

    /** Two leave two processors idle for 45 % of the time, three for 28 %: most tests wait. */
    private static final int LANES = 4;
    /** The shortest of the programs that are counted, kubectl, takes some 50 ms. */
    private static final int POLL_MILLIS = 40;

    /**
     * Blocks until all have ended.
     *
     * @param tiers those to run; empty means each that runs without being asked for
     * @return whether nothing failed
     */
    boolean run(Set<Tier> tiers) throws IOException, InterruptedException {
        List<Job> all = Table.rows("jobs.tsv").stream().map(Job::parse).toList();
        List<Job> jobs = all.stream()
                .filter(job -> tiers.isEmpty() ? job.tier() != Tier.SOAK : tiers.contains(job.tier()))
                .toList();
        TestJvm jvm = new TestJvm(workspace, Optional.of(workspace.root().resolve("packaging/target/image")));
        long start = System.nanoTime();
        Starts starts = new Starts(Path.of("/proc"));
        ScheduledExecutorService polling = Executors.newSingleThreadScheduledExecutor();
        var unused = polling.scheduleAtFixedRate(starts::poll, 0, POLL_MILLIS, TimeUnit.MILLISECONDS);
        List<Outcome> outcomes = new ArrayList<>(Lanes.run(LANES, jobs, job -> one(jvm, job)));
        polling.shutdownNow();
        report(new Summary(checked(jvm, outcomes, all)), tiers, starts, System.nanoTime() - start);
        return new Summary(outcomes).count(Line.Kind.FAILED) == 0;
    }

    private Outcome one(TestJvm jvm, Job job) {
        Outcome outcome;
        try {
            outcome = job.ofTests() ? jvm.tests(job, new Selection(Set.of(job.tier()), List.of())) : jvm.command(job);
        } catch (IOException | InterruptedException | RuntimeException e) {
            outcome = new Outcome(job, List.of(), 0, workspace.results()).failedToo(job.title(), e.toString());
        }
        console.ended(outcome);
        return outcome;
    }

    /** Adds a failure for each tier that no job runs, and for each class that became slow. */
    private List<Outcome> checked(TestJvm jvm, List<Outcome> outcomes, List<Job> jobs) throws InterruptedException {
        Summary.SlowClasses slow = Summary.SlowClasses.listed();
        // A test has one thread that works, mostly: two do not slow each other down on two processors.
        ExecutorService two = Executors.newFixedThreadPool(2);
        List<List<Future<List<String>>>> measured = outcomes.stream()
                .map(outcome -> new Summary(List.of(outcome))
                        .over(Summary.SlowClasses.LIMIT_MILLIS, slow).stream()
                                .map(line -> two.submit(() -> stillSlow(jvm, outcome.job(), line, slow)))
                                .toList())
                .toList();
        two.shutdown();
        for (int i = 0; i < outcomes.size(); i++) {
            Outcome outcome = outcomes.get(i);
            List<String> complaints = new ArrayList<>(unseen(outcome, jobs));
            for (Future<List<String>> again : measured.get(i)) {
                complaints.addAll(result(again));
            }
            for (String complaint : complaints) {
                console.line("FAILED " + complaint);
                outcomes.set(i, outcomes.get(i).failedToo(outcome.job().title(), complaint));
            }
        }
        return outcomes;
    }

    private static List<String> result(Future<List<String>> measured) throws InterruptedException {
        try {
            return measured.get();
        } catch (ExecutionException e) {
            return List.of(e.toString());
        }
    }

    private static List<String> unseen(Outcome outcome, List<Job> jobs) {
        String module = outcome.job().module();
        return outcome.all(Line.Kind.TIER).stream()
                .filter(line -> !line.subject().equals(Tier.GPU.tag()))
                .filter(line -> jobs.stream()
                        .noneMatch(job ->
                                job.module().equals(module) && job.tier().tag().equals(line.subject())))
                .map(line -> module + ": " + line.millis() + " tests of tier " + line.subject()
                        + " that no job runs: add it to jobs.tsv")
                .toList();
    }

    /** Measures slow classes again alone, since other lanes may have slowed them. */
    private List<String> stillSlow(TestJvm jvm, Job job, Line line, Summary.SlowClasses slow) {
        console.line(String.format(
                Locale.ROOT, "%s took %.1f s; once more without the others", line.subject(), line.millis() / 1000.0));
        Job again = new Job(job.tier(), job.module(), job.alone(), List.of());
        try {
            Outcome alone = jvm.tests(again, new Selection(Set.of(job.tier()), List.of(line.subject())));
            return new Summary(List.of(alone))
                    .over(Summary.SlowClasses.LIMIT_MILLIS, slow).stream()
                            .map(Summary::tooSlow)
                            .toList();
        } catch (IOException | InterruptedException e) {
            return List.of(line.subject() + ": " + e);
        }
    }

    private void report(Summary summary, Set<Tier> tiers, Starts starts, long nanos) {
        List<String> skipped = summary.skipped();
        if (!skipped.isEmpty()) {
            console.line("not checked:");
            skipped.forEach(console::line);
        }
        console.line("time: " + summary.tiers() + "; in " + LANES + " lanes " + nanos / 1_000_000_000L + " s");
        console.line("slowest classes:");
        summary.slowest().forEach(console::line);
        console.line("started: " + starts.text());
        if (!tiers.isEmpty()) {
            console.line(
                    "only these tiers ran: " + tiers.stream().map(Tier::tag).toList());
        }
        console.line(summary.total());
    }

    /** Runs jobs in parallel. A free lane takes the first job that may run beside the running ones. */
    static final class Lanes {

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
}
