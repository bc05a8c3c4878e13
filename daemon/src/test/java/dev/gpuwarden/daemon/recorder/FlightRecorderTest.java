package dev.gpuwarden.daemon.recorder;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.checks.NodeFixture;
import dev.gpuwarden.checks.history.NodeHistory;
import dev.gpuwarden.checks.history.RecentSamples;
import dev.gpuwarden.checks.telemetry.FrameListener;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.health.Subject;
import dev.gpuwarden.core.kernel.KernelRecord;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.process.GpuMemoryUse;
import dev.gpuwarden.core.process.GpuProcess;
import dev.gpuwarden.core.process.Owner;
import dev.gpuwarden.core.telemetry.Cadence;
import dev.gpuwarden.core.telemetry.GpuFrame;
import dev.gpuwarden.core.telemetry.GpuMetric;
import dev.gpuwarden.core.telemetry.GpuState;
import dev.gpuwarden.daemon.store.EventStore;
import dev.gpuwarden.daemon.store.StoreSettings;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;

class FlightRecorderTest {

    private static final Duration SECOND = Duration.ofSeconds(1);

    @TempDir
    Path folder;

    private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
    private final BlockingQueue<Kept> kept = new LinkedBlockingQueue<>();
    private final RecentKernelLines lines = new RecentKernelLines(Clock.systemUTC());
    private final GpuProcess process = NodeFixture.process(4242, 40_000_000_000L);
    private final NodeSnapshot node = NodeFixture.node(
            List.of(NodeFixture.gpu(0, GpuState.ANSWERING, NodeFixture.frame(), List.of(process)), NodeFixture.gpu(1)));
    private long now = Duration.ofHours(5).toNanos();
    private final NodeHistory history = new NodeHistory(SECOND, () -> now);
    private EventStore store;
    private FlightRecorder recorder;

    private record Kept(long sequence, byte[] gzip) {}

    @BeforeEach
    void start() {
        store = EventStore.open(StoreSettings.at(folder.resolve("events.db")), Clock.systemUTC());
        for (int i = 0; i < 2; i++) {
            sample(node.gpus().get(i).identity(), 70);
        }
        recorder = new FlightRecorder(store, new FromHere(), SECOND, timer, () -> now, Duration.ofMillis(300));
    }

    @AfterEach
    void end() {
        recorder.close();
        timer.shutdownNow();
        store.close();
    }

    /** One sample each second, each one degree hotter. */
    private void sample(GpuIdentity gpu, int seconds) {
        FrameListener listener = history.get();
        GpuFrame frame = new GpuFrame();
        long begin = now;
        for (int second = 0; second < seconds; second++) {
            now = begin - (seconds - 1 - second) * SECOND.toNanos();
            frame.put(GpuFrame.slot(GpuMetric.TEMPERATURE), 1000 + second);
            listener.published(gpu, Cadence.FAST, frame);
        }
        now = begin;
    }

    @Test
    void aFaultIsKeptWithWhatWasSeenAroundIt() throws Exception {
        lines.accept(line("long ago", -3600));
        lines.accept(line("by a clock that was set", 3600));
        lines.accept(line("NVRM: Xid (PCI:0000:1b:00): 79, GPU has fallen off the bus.", -1));
        store.accept(fault("79", node.gpus().get(0)));

        Recorded at = next();
        assertThat(at.tree().complete()).isFalse();
        assertThat(at.tree().text("kernel"))
                .contains("fallen off the bus", "by a clock that was set")
                .doesNotContain("long ago");
        assertThat(at.tree().text("processes")).contains("4242", "train.service", "40000000000");
        List<Object> temperatures = at.tree().series(0, "temperature_celsius");
        // 61 columns from 60 s before on, of 70 samples that end now with 1069.
        assertThat(temperatures).hasSize(61).startsWith(1009).endsWith(1069).doesNotContainNull();
        assertThat(at.tree().series(1, "temperature_celsius")).hasSize(61);
        assertThat(at.tree().series(0, "power_usage_watts")).containsOnlyNulls();
        assertThat(at.tree().concerned()).containsExactly(true, false);

        assertThat(next().sequence())
                .as("again, when the time after it is over")
                .isEqualTo(at.sequence());
    }

    @Test
    void simultaneousFaultsOfOneGpuShareOneRecording() throws Exception {
        store.accept(fault("79", node.gpus().get(0)));
        store.accept(fault("48", node.gpus().get(0)));
        List<Long> sequences = List.of(next().sequence(), next().sequence(), next().sequence());
        assertThat(sequences.get(1)).isEqualTo(sequences.get(0));
        assertThat(sequences.get(2)).isNotEqualTo(sequences.get(0));
    }

    @Test
    void repetitionsAndRecoveriesAreNotRecorded() throws Exception {
        store.accept(fault("79", node.gpus().get(0)));
        next();
        next();
        store.accept(fault("79", node.gpus().get(0)));
        HealthEvent healthy = HealthEvent.of("syslog-health-monitor", "GPU", "SysLogsXIDError")
                .healthy(true)
                .build();
        store.accept(healthy);
        assertThat(kept.poll(500, TimeUnit.MILLISECONDS)).isNull();
    }

    @Test
    void aFaultOfNoGpuShowsThemAll() throws Exception {
        store.accept(HealthEvent.of("gpuwarden", "NIC", "NicLink")
                .fatal(true)
                .errorCodes(List.of("link-down"))
                .entities(List.of(new Entity("NIC", "mlx5_0")))
                .build());
        assertThat(next().tree().concerned()).containsExactly(false, false);
    }

    private HealthEvent fault(String code, dev.gpuwarden.core.telemetry.GpuSnapshot gpu) {
        return HealthEvent.of("syslog-health-monitor", "GPU", "SysLogsXIDError")
                .fatal(true)
                .errorCodes(List.of(code))
                .entities(Subject.of(gpu.identity()).entities())
                .generated(Instant.now())
                .message("for this test " + now)
                .build();
    }

    private static KernelRecord line(String text, long secondsFromNow) {
        return new KernelRecord(Instant.now().plusSeconds(secondsFromNow), KernelRecord.Writer.KERNEL, text);
    }

    private record Recorded(long sequence, Tree tree) {}

    private Recorded next() throws InterruptedException, IOException {
        Kept one = kept.poll(10, TimeUnit.SECONDS);
        assertThat(one).isNotNull();
        try (InputStream in = new GZIPInputStream(new ByteArrayInputStream(one.gzip))) {
            String json = new String(in.readAllBytes(), StandardCharsets.UTF_8);
            return new Recorded(one.sequence, new Tree((java.util.Map<?, ?>)
                    new Load(LoadSettings.builder().build()).loadFromString(json)));
        }
    }

    /** JSON is YAML. */
    private record Tree(java.util.Map<?, ?> root) {
        boolean complete() {
            return (Boolean) root.get("complete");
        }

        String text(String key) {
            return String.valueOf(root.get(key));
        }

        List<Boolean> concerned() {
            return gpus().stream().map(gpu -> (Boolean) gpu.get("concerned")).toList();
        }

        @SuppressWarnings("unchecked")
        List<Object> series(int gpu, String reading) {
            return (List<Object>) ((java.util.Map<?, ?>) gpus().get(gpu).get("series")).get(reading);
        }

        @SuppressWarnings("unchecked")
        private List<java.util.Map<?, ?>> gpus() {
            return (List<java.util.Map<?, ?>>) root.get("gpus");
        }
    }

    private final class FromHere implements FlightRecorder.Sources {
        @Override
        public NodeSnapshot node() {
            return node;
        }

        @Override
        public List<GpuMemoryUse> memory(NodeSnapshot snapshot) {
            return NodeFixture.memory(snapshot, pid -> new Owner.Unit("train.service"));
        }

        @Override
        public RecentSamples samples(GpuIdentity gpu) {
            return history.recent(gpu);
        }

        @Override
        public RecentKernelLines lines() {
            return lines;
        }

        @Override
        public void keep(long sequence, byte[] gzip) {
            kept.add(new Kept(sequence, gzip));
        }
    }
}
