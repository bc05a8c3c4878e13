package dev.gpuwarden.daemon.metrics;

import dev.gpuwarden.checks.telemetry.SamplerStats;
import dev.gpuwarden.checks.telemetry.SamplerStats.Work;
import dev.gpuwarden.core.model.Reading;
import io.prometheus.metrics.model.snapshots.Labels;
import java.util.List;

/** The daemon's own resource usage: duty cycle, late and hung turns, memory, processor time. */
final class DaemonCollector {

    private static final List<Work> WORKS = List.of(Work.values());

    private static final Labels HEAP = Labels.of("area", "heap");

    private DaemonCollector() {}

    static void collect(Collector.Scrape scrape, Family.Series out) {
        sampler(scrape.sampler(), out);
        self(scrape.self(), out);
    }

    private static void sampler(SamplerStats sampler, Family.Series out) {
        for (Work work : WORKS) {
            Labels labels = Labels.of("work", work.label());
            out.add("gpuwarden_sampler_turn_duration_seconds", labels, sampler.durationsMicros(work));
            out.add("gpuwarden_sampler_overruns", labels, sampler.overruns(work));
        }
        out.add("gpuwarden_sampler_hung_turns", sampler.hungTurns());
        out.add("gpuwarden_sampler_replacement_threads", sampler.replacementThreads());
        out.add("gpuwarden_sampler_hung_threads", sampler.hungThreads());
        out.add("gpuwarden_driver_openings", sampler.driverOpenings());
        out.add("gpuwarden_driver_reinitialisations", sampler.reinitialisations());
    }

    private static void self(ProcessStatsReader.Stats self, Family.Series out) {
        present(out, "process_cpu_seconds", self.cpuSeconds());
        present(out, "process_start_time_seconds", self.startTimeSeconds());
        present(out, "process_resident_memory_bytes", self.residentBytes());
        present(out, "process_virtual_memory_bytes", self.virtualBytes());
        present(out, "process_threads", self.threads());
        present(out, "process_open_fds", self.openFiles());
        present(out, "process_max_fds", self.maxFiles());
        out.add("jvm_memory_used_bytes", HEAP, self.heapUsedBytes());
        out.add("jvm_memory_committed_bytes", HEAP, self.heapCommittedBytes());
        out.add("jvm_memory_max_bytes", HEAP, self.heapMaxBytes());
        out.add("gpuwarden_scrapes", self.scrapes());
        present(out, "gpuwarden_scrape_duration_seconds", self.lastScrapeSeconds());
    }

    private static void present(Family.Series out, String family, Reading<? extends Number> value) {
        value.asOptional().ifPresent(v -> out.add(family, v.doubleValue()));
    }
}
