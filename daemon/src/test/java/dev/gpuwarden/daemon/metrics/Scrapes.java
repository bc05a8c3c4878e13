package dev.gpuwarden.daemon.metrics;

import dev.gpuwarden.checks.NodeFixture;
import dev.gpuwarden.checks.telemetry.SamplerStats;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.process.GpuMemoryUse;
import dev.gpuwarden.core.process.Owner;
import java.util.List;
import org.HdrHistogram.Histogram;

/** Scrapes of hand-made nodes, with fixed figures of the program itself. */
final class Scrapes {

    private Scrapes() {}

    static Collector.Scrape scrape(NodeSnapshot node) {
        List<GpuMemoryUse> memory = NodeFixture.memory(node, pid -> new Owner.Unit("train.service"));
        return new Collector.Scrape(node, () -> memory, sampler(), SELF);
    }

    static final ProcessStatsReader.Stats SELF = new ProcessStatsReader.Stats(
            Reading.of(1.25),
            Reading.of(1_700_000_000.5),
            Reading.of(50L << 20),
            Reading.of(900L << 20),
            Reading.of(19L),
            Reading.of(33L),
            Reading.of(1024L),
            12L << 20,
            16L << 20,
            32L << 20,
            3,
            Reading.of(0.004));

    static SamplerStats sampler() {
        return new FixedSampler();
    }

    private static final class FixedSampler implements SamplerStats {
        @Override
        public long overruns(Work work) {
            return work == Work.FAST ? 2 : 0;
        }

        @Override
        public Histogram durationsMicros(Work work) {
            Histogram histogram = new Histogram(1, 10_000_000, 2);
            for (int i = 1; i <= 100; i++) {
                histogram.recordValue(i * 10L);
            }
            return histogram;
        }

        @Override
        public long hungTurns() {
            return 1;
        }

        @Override
        public long replacementThreads() {
            return 1;
        }

        @Override
        public int hungThreads() {
            return 0;
        }

        @Override
        public long driverOpenings() {
            return 1;
        }

        @Override
        public long reinitialisations() {
            return 0;
        }
    }
}
