package dev.gpuwarden.daemon.app;

import dev.gpuwarden.checks.history.RecentSamples;
import dev.gpuwarden.checks.view.CheckView;
import dev.gpuwarden.cli.web.GuardedHandler;
import dev.gpuwarden.cli.web.HttpHandler;
import dev.gpuwarden.core.check.CheckRegistry;
import dev.gpuwarden.core.check.CheckResult;
import dev.gpuwarden.core.event.EventReader;
import dev.gpuwarden.core.event.StoredEvent;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.node.PartNames;
import dev.gpuwarden.core.process.GpuMemoryUse;
import dev.gpuwarden.core.util.Threads;
import dev.gpuwarden.daemon.page.ApiHandler;
import dev.gpuwarden.daemon.page.LongPollHandler;
import dev.gpuwarden.daemon.page.MemoryHistory;
import dev.gpuwarden.daemon.page.PageGuard;
import dev.gpuwarden.daemon.page.PageHandler;
import dev.gpuwarden.daemon.recorder.FlightRecorder;
import dev.gpuwarden.daemon.recorder.RecentKernelLines;
import dev.gpuwarden.daemon.recorder.SupportArchive;
import dev.gpuwarden.daemon.view.DriverView;
import dev.gpuwarden.daemon.view.FaultView;
import dev.gpuwarden.daemon.view.GpuView;
import dev.gpuwarden.daemon.vram.VramView;
import dev.gpuwarden.daemon.vram.watch.VramStatus;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** The wiring of the web page and the recordings that it shows. */
record NodePage(DaemonParts parts, String nodeName, CheckRegistry checks, RecentKernelLines lines)
        implements ApiHandler.Sources, FlightRecorder.Sources {

    /** Long enough that attribution costs almost nothing, short enough that a tenant of a few minutes shows. */
    private static final Duration MEMORY_INTERVAL = Duration.ofSeconds(30);

    /** Starts the recorder, and the sources of the page's charts if the page is enabled. */
    List<HttpHandler> start(Optional<PageGuard> door) {
        ScheduledExecutorService timer = timer();
        parts.closer.add(timer::shutdownNow);
        parts.closer.add(new FlightRecorder(parts.store, this, parts.settings.sampling.fastInterval(), timer));
        return door.map(guard -> sites(timer).stream()
                        .map(guard::roomy)
                        .<HttpHandler>map(site -> new GuardedHandler(site, guard))
                        .toList())
                .orElse(List.of());
    }

    private List<HttpHandler> sites(ScheduledExecutorService timer) {
        MemoryHistory memory = new MemoryHistory();
        long nanos = MEMORY_INTERVAL.toNanos();
        timer.scheduleAtFixedRate(
                () -> memory.note(
                        Instant.now(),
                        memory(node()),
                        vram().stream().map(VramView::of).toList()),
                nanos / 10,
                nanos,
                TimeUnit.NANOSECONDS);
        return List.of(
                parts.closer.add(new LongPollHandler(parts.store)), new ApiHandler(this, memory), PageHandler.create());
    }

    private static ScheduledExecutorService timer() {
        return new ScheduledThreadPoolExecutor(1, Threads.daemon("gpuwarden-recorder"));
    }

    @Override
    public NodeSnapshot node() {
        return parts.sampler.snapshot();
    }

    @Override
    public List<GpuMemoryUse> memory(NodeSnapshot node) {
        return parts.memory.attribute(node);
    }

    @Override
    public List<VramStatus> vram() {
        return parts.tenancy();
    }

    @Override
    public EventReader events() {
        return parts.store;
    }

    @Override
    public Optional<String> notStored() {
        return parts.store.notStored();
    }

    @Override
    public RecentSamples samples(GpuIdentity gpu) {
        return parts.history.recent(gpu);
    }

    @Override
    public void keep(long sequence, byte[] gzip) {
        parts.store.attach(sequence, gzip);
    }

    @Override
    public Optional<byte[]> recording(StoredEvent event) {
        return parts.store.recording(event.event().id());
    }

    @Override
    public byte[] archive(StoredEvent event) {
        NodeSnapshot node = node();
        List<CheckResult> results = checks.results();
        Map<String, Object> others = new LinkedHashMap<>();
        others.put("driver", DriverView.tree(node.driver()));
        others.put("gpus", node.gpus().stream().map(GpuView::tree).toList());
        others.put("checks", results.stream().map(CheckView::tree).toList());
        others.put("faults", FaultView.trees(parts.store.faults(), PartNames.of(node), checks.damping()));
        return SupportArchive.zip(event, recording(event), others);
    }
}
