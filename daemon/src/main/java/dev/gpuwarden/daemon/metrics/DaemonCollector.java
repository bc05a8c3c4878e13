package dev.gpuwarden.daemon.metrics;

import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.daemon.telemetry.SamplerStats;
import dev.gpuwarden.daemon.telemetry.SamplerStats.Work;
import io.prometheus.metrics.model.snapshots.Labels;
import java.util.List;

/** The daemon's own resource usage: duty cycle, late and hung turns, memory, processor time. */
final class DaemonCollector implements Collector {

    private static final List<Work> WORKS = List.of(Work.values());

    private static final Family TURN = Family.summary(
            "gpuwarden_sampler_turn_duration", "seconds", "Duration of sampling turns, driver calls included.");
    private static final Family OVERRUNS = Family.counter(
            "gpuwarden_sampler_overruns", "Turns skipped because the one before, or the machine, was late.");
    private static final Family HUNG_TURNS =
            Family.counter("gpuwarden_sampler_hung_turns", "Turns that exceeded the deadline.");
    private static final Family REPLACED =
            Family.counter("gpuwarden_sampler_replacement_threads", "Threads started in place of hung ones.");
    private static final Family HUNG_THREADS = Family.gauge(
            "gpuwarden_sampler_hung_threads", "Threads that are in a driver call beyond the deadline now.");
    private static final Family OPENINGS =
            Family.counter("gpuwarden_driver_openings", "Attempts to open the driver, the successful one included.");
    private static final Family REINITIALISATIONS = Family.counter(
            "gpuwarden_driver_reinitialisations",
            "Times that the driver library was initialised again to detect GPUs that came or went.");

    private static final Family SCRAPES =
            Family.counter("gpuwarden_scrapes", "Expositions made; scrapes within a second share one.");
    private static final Family SCRAPE_DURATION =
            Family.gauge("gpuwarden_scrape_duration", "seconds", "Time that the previous exposition took.");

    private static final Family CPU =
            Family.counter("process_cpu", "seconds", "Total user and system CPU time spent in seconds.");
    private static final Family START =
            Family.gauge("process_start_time", "seconds", "Start time of the process since unix epoch in seconds.");
    private static final Family RESIDENT =
            Family.gauge("process_resident_memory", "bytes", "Resident memory size in bytes.");
    private static final Family VIRTUAL =
            Family.gauge("process_virtual_memory", "bytes", "Virtual memory size in bytes.");
    private static final Family THREADS = Family.gauge("process_threads", "Number of OS threads in the process.");
    private static final Family OPEN_FILES = Family.gauge("process_open_fds", "Number of open file descriptors.");
    private static final Family MAX_FILES = Family.gauge("process_max_fds", "Maximum number of open file descriptors.");
    private static final Family HEAP_USED =
            Family.gauge("jvm_memory_used", "bytes", "Used bytes of a JVM memory area.");
    private static final Family HEAP_COMMITTED =
            Family.gauge("jvm_memory_committed", "bytes", "Committed bytes of a JVM memory area.");
    private static final Family HEAP_MAX = Family.gauge("jvm_memory_max", "bytes", "Max bytes of a JVM memory area.");
    private static final Labels HEAP = Labels.of("area", "heap");

    @Override
    public String name() {
        return "daemon";
    }

    @Override
    public void collect(Scrape scrape, Family.Series out) {
        sampler(scrape.sampler(), out);
        self(scrape.self(), out);
    }

    private static void sampler(SamplerStats sampler, Family.Series out) {
        for (Work work : WORKS) {
            Labels labels = Labels.of("work", work.label());
            out.add(TURN, labels, sampler.durationsMicros(work));
            out.add(OVERRUNS, labels, sampler.overruns(work));
        }
        out.add(HUNG_TURNS, Labels.EMPTY, sampler.hungTurns());
        out.add(REPLACED, Labels.EMPTY, sampler.replacementThreads());
        out.add(HUNG_THREADS, Labels.EMPTY, sampler.hungThreads());
        out.add(OPENINGS, Labels.EMPTY, sampler.driverOpenings());
        out.add(REINITIALISATIONS, Labels.EMPTY, sampler.reinitialisations());
    }

    private static void self(ProcessStatsReader.Stats self, Family.Series out) {
        present(out, CPU, self.cpuSeconds());
        present(out, START, self.startTimeSeconds());
        present(out, RESIDENT, self.residentBytes());
        present(out, VIRTUAL, self.virtualBytes());
        present(out, THREADS, self.threads());
        present(out, OPEN_FILES, self.openFiles());
        present(out, MAX_FILES, self.maxFiles());
        out.add(HEAP_USED, HEAP, self.heapUsedBytes());
        out.add(HEAP_COMMITTED, HEAP, self.heapCommittedBytes());
        out.add(HEAP_MAX, HEAP, self.heapMaxBytes());
        out.add(SCRAPES, Labels.EMPTY, self.scrapes());
        present(out, SCRAPE_DURATION, self.lastScrapeSeconds());
    }

    private static void present(Family.Series out, Family family, Reading<? extends Number> value) {
        value.asOptional().ifPresent(v -> out.add(family, Labels.EMPTY, v.doubleValue()));
    }
}
