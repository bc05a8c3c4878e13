package dev.gpuwarden.checks.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import dev.gpuwarden.checks.history.NodeHistory;
import dev.gpuwarden.checks.node.NodePaths;
import dev.gpuwarden.checks.node.PciBus;
import dev.gpuwarden.checks.telemetry.SamplerStats.Work;
import dev.gpuwarden.core.port.DriverOptions.SamplerPath;
import dev.gpuwarden.core.port.DriverProvider;
import dev.gpuwarden.core.telemetry.GpuState;
import dev.gpuwarden.testkit.sim.SimulatedNode;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.ServiceLoader;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** Checks that turns on the JNI path allocate nothing: a daemon that allocates at rest pays for it in collections. */
class AllocationTest {

    private static final int TURNS = 200;

    @Test
    void turnAllocatesNothing() {
        AtomicLong now = new AtomicLong(1);
        List<GpuWorker> workers = new ArrayList<>();
        try (SimulatedNode node = SimulatedNode.start("h100x8")) {
            Duration never = Duration.ofDays(1);
            SamplingSettings settings = SamplingSettings.of(
                            Duration.ofSeconds(1), Duration.ofSeconds(2), never, Duration.ofSeconds(2))
                    .withLibraryPath(node.libraryPath().toString());
            settings.samplerPath = SamplerPath.JNI;
            DriverProvider provider =
                    ServiceLoader.load(DriverProvider.class).findFirst().orElseThrow();
            PciBus bus = new PciBus(NodePaths.of(node.procfs(), node.sysfs(), Path.of("/nonexistent")));
            NodeHistory history = new NodeHistory(settings.fastInterval(), now::get);
            ThreadLauncher launcher = (name, body) -> {
                if (body instanceof GpuWorker worker) {
                    workers.add(worker);
                }
            };
            NodeSampler sampler = new NodeSampler(provider, settings, bus, now::get, launcher, history);
            sampler.manager.step();
            turns(workers, now, 10);

            ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
            long before = threads.getCurrentThreadAllocatedBytes();
            turns(workers, now, TURNS);
            long allocated = threads.getCurrentThreadAllocatedBytes() - before;

            assertThat(sampler.snapshot().gpus()).allMatch(gpu -> gpu.state() == GpuState.ANSWERING);
            assertThat(sampler.stats().durationsMicros(Work.FAST).getTotalCount())
                    .isEqualTo(8L * (TURNS + 10));
            assertThat(sampler.stats().durationsMicros(Work.SLOW).getTotalCount())
                    .isGreaterThan(8L * TURNS / 2);
            assertThat(allocated).isZero();
            sampler.snapshot()
                    .gpus()
                    .forEach(gpu ->
                            assertThat(history.recent(gpu.identity()).size()).isEqualTo(91));
        }
    }

    private static void turns(List<GpuWorker> workers, AtomicLong now, int count) {
        for (int i = 0; i < count; i++) {
            for (int w = 0; w < workers.size(); w++) {
                workers.get(w).turn();
            }
            now.addAndGet(1_000_000_000);
        }
    }
}
