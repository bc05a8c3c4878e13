package dev.gpuwarden.daemon.grpc;

import dev.gpuwarden.api.CheckCodec;
import dev.gpuwarden.api.FaultCodec;
import dev.gpuwarden.api.GpuCodec;
import dev.gpuwarden.api.v1.GpuView;
import dev.gpuwarden.api.v1.Missed;
import dev.gpuwarden.api.v1.NodeState;
import dev.gpuwarden.api.v1.WatchKind;
import dev.gpuwarden.api.v1.WatchRequest;
import dev.gpuwarden.api.v1.WatchResponse;
import dev.gpuwarden.core.check.CheckResult;
import dev.gpuwarden.core.event.EventChange;
import dev.gpuwarden.core.event.EventReader;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import dev.gpuwarden.core.telemetry.GpuState;
import io.grpc.Status;
import io.grpc.stub.ServerCallStreamObserver;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A hub that sends changes to watchers. The store reports events; checks and GPUs are polled once a second while
 * there are watchers. Without watchers it costs nothing.
 */
final class WatchHub implements AutoCloseable {

    private static final int MAX_WATCHERS = 64;

    private final NodeSources sources;
    private final ScheduledExecutorService loop;
    private final CallStats stats;
    private final List<Watcher<Change>> watchers = new CopyOnWriteArrayList<>();
    private final EventReader.Subscription subscription;
    /** Used by the event loop only. */
    private final FaultMessages faults;

    private @Nullable ScheduledFuture<?> polling;

    private Observed seen = Observed.NOTHING;

    /** A change that watchers may receive. */
    private sealed interface Change {}

    private record Event(EventChange stored) implements Change {}

    private record Check(CheckResult result) implements Change {}

    private record OneGpu(GpuSnapshot gpu) implements Change {}

    WatchHub(NodeSources sources, ScheduledExecutorService loop, CallStats stats) {
        this.sources = sources;
        this.loop = loop;
        this.stats = stats;
        this.faults = new FaultMessages(sources.events()::faults);
        subscription = sources.events().listen(this::changed);
    }

    /** Runs on the store's thread. */
    private void changed(EventChange change) {
        if (!watchers.isEmpty()) {
            offer(new Event(change));
        }
    }

    /** Adds a watcher. Runs on the event loop, as every new call. */
    void add(WatchRequest request, ServerCallStreamObserver<WatchResponse> client) {
        Set<WatchKind> kinds = EnumSet.noneOf(WatchKind.class);
        kinds.addAll(request.getKindsList());
        if (kinds.contains(WatchKind.UNRECOGNIZED) || kinds.contains(WatchKind.WATCH_KIND_UNSPECIFIED)) {
            client.onError(NodeService.status(
                    Status.INVALID_ARGUMENT, "kinds: expected kinds of this version, but at least one is unknown"));
            return;
        }
        if (watchers.size() >= MAX_WATCHERS) {
            stats.refused(CallStats.Refusal.WATCHERS);
            client.onError(
                    NodeService.status(Status.RESOURCE_EXHAUSTED, "there are " + MAX_WATCHERS + " watchers already"));
            return;
        }
        Set<WatchKind> wanted = kinds.isEmpty() ? EnumSet.allOf(WatchKind.class) : kinds;
        Watcher<Change> watcher = new Watcher<>(client, loop, () -> state(wanted), change -> messages(change, wanted));
        client.setOnReadyHandler(watcher::wake);
        client.setOnCancelHandler(() -> remove(watcher));
        // Changes are queued from now on, so that none is lost between the state and the first change.
        watchers.add(watcher);
        stats.watchers(1);
        if (polling == null) {
            seen = Observed.of(sources);
            polling = loop.scheduleWithFixedDelay(this::poll, 1, 1, TimeUnit.SECONDS);
        }
        watcher.wake();
    }

    private void remove(Watcher<Change> watcher) {
        if (!watchers.remove(watcher)) {
            return;
        }
        stats.watchers(-1);
        ScheduledFuture<?> running = polling;
        if (watchers.isEmpty() && running != null) {
            running.cancel(false);
            polling = null;
            seen = Observed.NOTHING;
        }
    }

    private void poll() {
        Observed now = Observed.of(sources);
        now.newResults(seen).forEach(result -> offer(new Check(result)));
        now.changedGpus(seen).forEach(gpu -> offer(new OneGpu(gpu)));
        seen = now;
    }

    private void offer(Change change) {
        watchers.forEach(watcher -> watcher.offer(change));
    }

    private WatchResponse state(Set<WatchKind> wanted) {
        NodeState.Builder state = NodeState.newBuilder();
        if (wanted.contains(WatchKind.WATCH_KIND_FAULTS)) {
            FaultMessages.FaultList all = faults.all();
            state.addAllFaults(all.faults()).setFaultsLeftOut(all.leftOut());
        }
        if (wanted.contains(WatchKind.WATCH_KIND_CHECKS)) {
            sources.checks().results().forEach(result -> state.addChecks(CheckCodec.toWire(result)));
        }
        if (wanted.contains(WatchKind.WATCH_KIND_GPUS)) {
            sources.node().get().gpus().forEach(gpu -> state.addGpus(GpuCodec.toWire(gpu, GpuView.GPU_VIEW_BASIC)));
        }
        return WatchResponse.newBuilder().setState(state).build();
    }

    private List<WatchResponse> messages(Change change, Set<WatchKind> wanted) {
        List<WatchResponse> messages = new ArrayList<>(2);
        if (change instanceof Event event) {
            if (wanted.contains(WatchKind.WATCH_KIND_FAULTS)
                    && !event.stored.change().keys().isEmpty()) {
                messages.add(WatchResponse.newBuilder()
                        .setFaults(faults.change(event.stored.change()))
                        .build());
            }
            if (wanted.contains(WatchKind.WATCH_KIND_EVENTS)) {
                messages.add(WatchResponse.newBuilder()
                        .setEvent(FaultCodec.toWire(event.stored.stored()))
                        .build());
            }
        } else if (change instanceof Check check && wanted.contains(WatchKind.WATCH_KIND_CHECKS)) {
            messages.add(WatchResponse.newBuilder()
                    .setCheck(CheckCodec.toWire(check.result))
                    .build());
        } else if (change instanceof OneGpu one && wanted.contains(WatchKind.WATCH_KIND_GPUS)) {
            messages.add(WatchResponse.newBuilder()
                    .setGpu(GpuCodec.toWire(one.gpu, GpuView.GPU_VIEW_BASIC))
                    .build());
        }
        return messages;
    }

    /** Ends all watches. */
    @Override
    public void close() {
        subscription.close();
        watchers.forEach(Watcher::end);
    }

    /** The checks and GPUs as they were last polled, to find changes. */
    private record Observed(List<CheckResult> results, List<GpuSnapshot> gpus) {

        static final Observed NOTHING = new Observed(List.of(), List.of());

        static Observed of(NodeSources sources) {
            return new Observed(sources.checks().results(), sources.node().get().gpus());
        }

        /** Returns the results of runs that ended since then. */
        List<CheckResult> newResults(Observed before) {
            Map<String, Instant> known = new HashMap<>();
            before.results.forEach(result -> known.put(result.check().id(), result.at()));
            return results.stream()
                    .filter(result ->
                            !result.at().equals(known.get(result.check().id())))
                    .toList();
        }

        private record Face(GpuIdentity identity, GpuState state, String detail) {
            static Face of(GpuSnapshot gpu) {
                return new Face(gpu.identity(), gpu.state(), gpu.detail());
            }
        }

        /** Returns GPUs that are new, or whose identity or state has changed. */
        List<GpuSnapshot> changedGpus(Observed before) {
            List<Face> known = before.gpus.stream().map(Face::of).toList();
            return gpus.stream().filter(gpu -> !known.contains(Face.of(gpu))).toList();
        }
    }

    /**
     * One watching client. Changes wait in a short queue. If the queue is full, they are dropped and counted, and the
     * client receives the full state again, so that a slow reader does not affect others. Any thread may offer changes;
     * only the event loop sends them.
     *
     * @param <C> a change
     */
    static final class Watcher<C> {

        static final int QUEUE = 256;

        private final ServerCallStreamObserver<WatchResponse> client;
        private final Executor loop;
        private final Supplier<WatchResponse> state;
        private final Function<C, List<WatchResponse>> messages;
        private final Deque<C> queue = new ArrayDeque<>();
        private final AtomicBoolean due = new AtomicBoolean();
        private long missed;
        private boolean stateDue = true;

        /** @param messages returns the messages for a change; may be empty */
        Watcher(
                ServerCallStreamObserver<WatchResponse> client,
                Executor loop,
                Supplier<WatchResponse> state,
                Function<C, List<WatchResponse>> messages) {
            this.client = client;
            this.loop = loop;
            this.state = state;
            this.messages = messages;
        }

        void offer(C change) {
            synchronized (queue) {
                if (missed > 0) {
                    missed++;
                } else if (queue.size() == QUEUE) {
                    missed = queue.size() + 1L;
                    queue.clear();
                } else {
                    queue.add(change);
                }
            }
            wake();
        }

        /** Schedules sending on the event loop. */
        void wake() {
            if (!due.getAndSet(true)) {
                loop.execute(this::send);
            }
        }

        /** Ends the watch because the daemon stops. */
        void end() {
            loop.execute(() -> client.onError(NodeService.status(Status.UNAVAILABLE, "the daemon stops")));
        }

        private void send() {
            due.set(false);
            while (client.isReady() && !client.isCancelled()) {
                List<WatchResponse> next = next();
                if (next.isEmpty()) {
                    return;
                }
                next.forEach(client::onNext);
            }
        }

        private List<WatchResponse> next() {
            while (true) {
                C change;
                synchronized (queue) {
                    if (missed > 0) {
                        Missed dropped =
                                Missed.newBuilder().setChangeCount(missed).build();
                        missed = 0;
                        stateDue = true;
                        return List.of(
                                WatchResponse.newBuilder().setMissed(dropped).build());
                    }
                    if (stateDue) {
                        stateDue = false;
                        change = null;
                    } else {
                        change = queue.poll();
                        if (change == null) {
                            return List.of();
                        }
                    }
                }
                List<WatchResponse> next = change == null ? List.of(state.get()) : messages.apply(change);
                if (!next.isEmpty()) {
                    return next;
                }
            }
        }
    }
}
