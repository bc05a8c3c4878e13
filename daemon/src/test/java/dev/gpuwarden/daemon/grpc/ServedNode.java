package dev.gpuwarden.daemon.grpc;

import dev.gpuwarden.checks.CheckEnvironment;
import dev.gpuwarden.checks.CheckPlan;
import dev.gpuwarden.checks.CheckRunner;
import dev.gpuwarden.checks.NodeFixture;
import dev.gpuwarden.checks.Sources;
import dev.gpuwarden.checks.TimeGrid;
import dev.gpuwarden.checks.access.GpuReleases;
import dev.gpuwarden.checks.node.NodePaths;
import dev.gpuwarden.checks.process.CallingProcess;
import dev.gpuwarden.checks.process.NodeMemory;
import dev.gpuwarden.core.check.CheckContext;
import dev.gpuwarden.core.check.CheckInfo;
import dev.gpuwarden.core.check.Expectations;
import dev.gpuwarden.core.check.HealthCheck;
import dev.gpuwarden.core.check.Limits;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.EventWriter;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Measurement;
import dev.gpuwarden.core.health.Subject;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.process.GpuMemory;
import dev.gpuwarden.core.process.GpuMemoryUse;
import dev.gpuwarden.core.process.GpuProcess;
import dev.gpuwarden.core.process.MemoryAttribution;
import dev.gpuwarden.core.process.Owner;
import dev.gpuwarden.core.process.ProcessFacts;
import dev.gpuwarden.daemon.store.EventStore;
import dev.gpuwarden.daemon.store.StoreSettings;
import dev.gpuwarden.daemon.vram.watch.LocalCalls;
import dev.gpuwarden.daemon.vram.watch.VramStatus;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** A node of two GPUs that is served on sockets in a folder, with a real store and a real runner of checks. */
final class ServedNode implements AutoCloseable {

    static final String NAME = "node-7";
    static final Instant STARTED = Instant.parse("2026-11-21T10:00:00Z");

    final Path socket;
    final EventStore store;
    final CheckRunner checks;
    final GrpcServer server;
    final NodeClient client;
    final AtomicReference<NodeSnapshot> node = new AtomicReference<>(NodeFixture.node(2));
    final AtomicReference<Finding> finding = new AtomicReference<>(Finding.pass("port-up", Subject.NODE, "up"));
    /** Runs during each run of the check "port". */
    final AtomicReference<Consumer<CheckContext>> duringPort = new AtomicReference<>(context -> {});

    final AtomicReference<List<VramStatus>> vram = new AtomicReference<>(List.of());
    /** Without one the watchdog is off. */
    volatile @Nullable LocalCalls calls;

    final List<GpuReleases.Request> released = new CopyOnWriteArrayList<>();

    /** Finds this process as it is, unless a test replaces it. */
    final AtomicReference<CallingProcess.Lookup> callers = new AtomicReference<>(
            CallingProcess.Lookup.of(NodePaths.of(Path.of("/proc"), Path.of("/sys"), Path.of("/var/log/pods"))));

    final AtomicInteger memoryLooks = new AtomicInteger();
    /** Makes the store refuse writes, like a full disk. */
    final AtomicBoolean full = new AtomicBoolean();

    private ServedNode(Path folder, UnaryOperator<GrpcOptions> change) {
        socket = folder.resolve("gpuwarden.sock");
        store = EventStore.open(StoreSettings.at(folder.resolve("events.db")), Clock.systemUTC());
        checks = new CheckRunner(
                CheckPlan.of(List.of(new Port(), new Other())),
                new CheckEnvironment(
                        node::get,
                        gpu -> dev.gpuwarden.core.check.GpuHistory.NONE,
                        Limits.NONE,
                        Expectations.NONE,
                        Sources.NONE,
                        NodePaths.of(folder, folder, folder),
                        Clock.systemUTC()),
                results -> {},
                TimeGrid.from(System.nanoTime()));
        checks.start();
        awaitFirstResults();
        GrpcOptions options = new GrpcOptions();
        options.socket = socket.toString();
        options.eventsSocket = folder.resolve("nvsentinel/nvsentinel.sock").toString();
        server = GrpcServer.start(change.apply(options), sources());
        client = NodeClient.of(socket);
    }

    /** Before them the verdict is unknown, and a test that compares two answers would compare it with the one after them. */
    private void awaitFirstResults() {
        while (checks.results().size() < checks.checks().size()) {
            LockSupport.parkNanos(1_000_000);
        }
    }

    static ServedNode start(Path folder) {
        return start(folder, options -> options);
    }

    static ServedNode start(Path folder, UnaryOperator<GrpcOptions> change) {
        return new ServedNode(folder, change);
    }

    NodeSources sources() {
        return new NodeSources(
                new NodeSources.Identity(NAME, "0d3c", "1.2.3", STARTED),
                node::get,
                this::memory,
                vram::get,
                () -> Optional.ofNullable(calls),
                this::release,
                new Intake(),
                store,
                checks,
                () -> full.get() ? Optional.of("disk full") : Optional.empty(),
                () -> Map.of("webhook", "the server answers 503"),
                store::recording,
                (pid, uid, connected) -> callers.get().find(pid, uid, connected),
                Clock.systemUTC());
    }

    private Runnable release(GpuReleases.Request request, Consumer<GpuReleases.Progress> listener) {
        released.add(request);
        listener.accept(new GpuReleases.Progress(GpuReleases.State.RELEASED, ""));
        return () -> released.remove(request);
    }

    /** Each GPU is held by one pod with two processes. */
    private List<GpuMemoryUse> memory(NodeSnapshot snapshot) {
        memoryLooks.incrementAndGet();
        Owner pod = new Owner.Pod(
                "uid-1", Reading.of("ml"), Reading.of("train-0"), Reading.of("main"), Reading.of("c".repeat(64)));
        return snapshot.gpus().stream()
                .map(gpu -> {
                    GpuMemory memory = NodeMemory.memory(gpu.frame());
                    Reading<Integer> none = Reading.absent(dev.gpuwarden.core.model.Absence.NOT_SUPPORTED);
                    List<GpuProcess> processes = List.of(
                            new GpuProcess(11, GpuProcess.Type.COMPUTE, Reading.of(1L << 30), none, none),
                            new GpuProcess(12, GpuProcess.Type.COMPUTE, Reading.of(2L << 30), none, none));
                    return MemoryAttribution.attribute(
                            gpu.identity(),
                            memory,
                            Reading.of(processes),
                            pid -> new ProcessFacts(Reading.of(1L), Reading.of("python"), pod));
                })
                .toList();
    }

    static HealthEvent.Builder xid(String code) {
        return HealthEvent.of("syslog-health-monitor", "GPU", "SysLogsXIDError")
                .nodeName(NAME)
                .fatal(true)
                .errorCodes(List.of(code))
                .entities(List.of(new Entity(Entity.PCI, "0000:3b:00"), Entity.gpu("GPU-1")))
                .message("NVRM: Xid (PCI:0000:3b:00): " + code)
                .action(RecommendedAction.RESTART_BM)
                .metadata(Map.of("n", "1"))
                .generated(Instant.now());
    }

    @Override
    public void close() {
        client.close();
        server.close();
        checks.close();
        store.close();
    }

    /** The store, behind a disk that a test can fill. */
    private final class Intake implements EventWriter {
        @Override
        public List<Receipt> accept(List<HealthEvent> events, Optional<Position> position) {
            return full.get() ? events.stream().map(event -> Receipt.HELD).toList() : store.accept(events, position);
        }

        @Override
        public Optional<Position> position(String source) {
            return store.position(source);
        }
    }

    private final class Port implements HealthCheck {
        @Override
        public CheckInfo info() {
            return CheckInfo.of("port", "NIC", "Whether the port is up.");
        }

        @Override
        public List<Finding> run(CheckContext context) {
            duringPort.get().accept(context);
            return List.of(finding.get().with(new Measurement("speed_bits_per_second", 4e11, "at least 1")));
        }
    }

    private static final class Other implements HealthCheck {
        @Override
        public CheckInfo info() {
            return CheckInfo.of("other", "NODE", "Never applies.");
        }

        @Override
        public List<Finding> run(CheckContext context) {
            return List.of();
        }
    }
}
