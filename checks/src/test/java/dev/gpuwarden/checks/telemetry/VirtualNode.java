package dev.gpuwarden.checks.telemetry;

import dev.gpuwarden.checks.node.NodePaths;
import dev.gpuwarden.checks.node.PciBus;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.port.Driver;
import dev.gpuwarden.core.port.DriverOptions;
import dev.gpuwarden.core.port.DriverProvider;
import dev.gpuwarden.core.port.Opening;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** A sampler whose clock stands still and whose turns the test takes. */
final class VirtualNode implements DriverProvider {

    volatile long now = Duration.ofHours(1).toNanos();
    final FakeDriver driver = new FakeDriver(() -> now);
    Opening<Driver> opening = new Opening.Opened<>(driver);
    /** In the order in which they were started. */
    final List<GpuWorker> workers = new ArrayList<>();

    /** Every frame that was published, by GPU and cadence. */
    final List<String> published = new ArrayList<>();

    private final FrameListener received = (gpu, cadence, frame) ->
            published.add(cadence + " " + gpu.selector() + " " + frame.sampledAtNanos(cadence));

    final NodeSampler sampler;

    VirtualNode() {
        this(Path.of("/nonexistent"));
    }

    VirtualNode(Path sysfs) {
        NodePaths paths = NodePaths.of(Path.of("/proc"), sysfs, Path.of("/nonexistent"));
        SamplingSettings settings = SamplingSettings.of(
                Duration.ofSeconds(1), Duration.ofSeconds(10), Duration.ofSeconds(15), Duration.ofSeconds(2));
        ThreadLauncher launcher = (name, body) -> {
            if (body instanceof GpuWorker worker) {
                workers.add(worker);
            }
        };
        sampler = new NodeSampler(this, settings, new PciBus(paths), () -> now, launcher, () -> received);
    }

    @Override
    public Opening<Driver> open(DriverOptions options) {
        return opening;
    }

    /** Opens the driver and lists its GPUs. */
    VirtualNode opened(String... uuids) {
        list(uuids);
        sampler.manager.step();
        return this;
    }

    void list(String... uuids) {
        driver.listed = gpus(uuids);
    }

    /** From now on this driver is opened in place of {@link #driver}. */
    FakeDriver nextDriver(String... uuids) {
        FakeDriver next = new FakeDriver(() -> now);
        next.listed = gpus(uuids);
        opening = new Opening.Opened<>(next);
        return next;
    }

    private static Reading<List<GpuIdentity>> gpus(String... uuids) {
        List<GpuIdentity> gpus = new ArrayList<>();
        for (int i = 0; i < uuids.length; i++) {
            gpus.add(FakeDriver.gpu(i, uuids[i]));
        }
        return Reading.of(gpus);
    }

    /** Lets time pass while the daemon runs. */
    void pass(Duration time) {
        long end = now + time.toNanos();
        while (end - now > 0) {
            now = Math.min(end, now + sampler.pauses.tick);
            sampler.pauses.tick(now);
        }
    }

    /** Lets time pass while the daemon does not run. */
    void pause(Duration time) {
        now = now + time.toNanos();
    }

    void supervise() {
        sampler.supervise(now);
    }

    GpuSnapshot gpu(int position) {
        return sampler.snapshot().gpus().get(position);
    }

    SamplerStats stats() {
        return sampler.stats();
    }
}
