package dev.gpuwarden.daemon.grpc;

import dev.gpuwarden.api.CheckCodec;
import dev.gpuwarden.api.FaultCodec;
import dev.gpuwarden.api.GpuCodec;
import dev.gpuwarden.api.v1.GpuView;
import dev.gpuwarden.api.v1.NodeState;
import dev.gpuwarden.api.v1.WatchKind;
import dev.gpuwarden.api.v1.WatchRequest;
import dev.gpuwarden.api.v1.WatchResponse;
import dev.gpuwarden.core.check.CheckResult;
import dev.gpuwarden.core.event.EventChange;
import dev.gpuwarden.core.event.EventReader;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import io.grpc.Status;
import io.grpc.stub.ServerCallStreamObserver;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Tells watchers what changes: events as the store tells them; checks and GPUs, of which nobody tells, by looking once a second
 * while somebody watches. Without watchers it costs nothing.
 */
final class WatchHub implements AutoCloseable {

    private static final int MAX_WATCHERS = 64;

    private final NodeSources sources;
    private final ScheduledExecutorService loop;
    private final CallStats stats;
    private final List<Watcher<Change>> watchers = new CopyOnWriteArrayList<>();
    private final EventReader.Subscription subscription;
    /** These belong to the event loop. */
    private final FaultMessages faults;

    private @Nullable ScheduledFuture<?> looking;

    private NodeWatch seen = NodeWatch.NOTHING;

    /** Something that watchers may want to know. */
    private sealed interface Change {}

    private record Event(EventChange told) implements Change {}

    private record Check(CheckResult result) implements Change {}

    private record OneGpu(GpuSnapshot gpu) implements Change {}

    WatchHub(NodeSources sources, ScheduledExecutorService loop, CallStats stats) {
        this.sources = sources;
        this.loop = loop;
        this.stats = stats;
        this.faults = new FaultMessages(sources.events()::faults);
        subscription = sources.events().listen(this::told);
    }

    /** On the store's thread. */
    private void told(EventChange told) {
        if (!watchers.isEmpty()) {
            offer(new Event(told));
        }
    }

    /** On the event loop, as every new call. */
    void add(WatchRequest request, ServerCallStreamObserver<WatchResponse> client) {
        Set<WatchKind> kinds = EnumSet.noneOf(WatchKind.class);
        kinds.addAll(request.getKindsList());
        if (kinds.contains(WatchKind.UNRECOGNIZED) || kinds.contains(WatchKind.WATCH_KIND_UNSPECIFIED)) {
            client.onError(Status.INVALID_ARGUMENT
                    .withDescription("kinds: one that this version does not know")
                    .asRuntimeException());
            return;
        }
        if (watchers.size() >= MAX_WATCHERS) {
            stats.refused(CallStats.Refusal.WATCHERS);
            client.onError(Status.RESOURCE_EXHAUSTED
                    .withDescription("there are " + MAX_WATCHERS + " watchers already")
                    .asRuntimeException());
            return;
        }
        Set<WatchKind> wanted = kinds.isEmpty() ? EnumSet.allOf(WatchKind.class) : kinds;
        Watcher<Change> watcher = new Watcher<>(client, loop, () -> state(wanted), change -> messages(change, wanted));
        client.setOnReadyHandler(watcher::wake);
        client.setOnCancelHandler(() -> remove(watcher));
        // Changes are kept from now on, so that none falls between the state and what follows.
        watchers.add(watcher);
        stats.watchers(1);
        if (looking == null) {
            seen = NodeWatch.of(sources);
            looking = loop.scheduleWithFixedDelay(this::look, 1, 1, TimeUnit.SECONDS);
        }
        watcher.wake();
    }

    private void remove(Watcher<Change> watcher) {
        if (!watchers.remove(watcher)) {
            return;
        }
        stats.watchers(-1);
        ScheduledFuture<?> running = looking;
        if (watchers.isEmpty() && running != null) {
            running.cancel(false);
            looking = null;
            seen = NodeWatch.NOTHING;
        }
    }

    private void look() {
        NodeWatch now = NodeWatch.of(sources);
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
            FaultList all = faults.all();
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
                    && !event.told.change().keys().isEmpty()) {
                messages.add(WatchResponse.newBuilder()
                        .setFaults(faults.change(event.told.change()))
                        .build());
            }
            if (wanted.contains(WatchKind.WATCH_KIND_EVENTS)) {
                messages.add(WatchResponse.newBuilder()
                        .setEvent(FaultCodec.toWire(event.told.stored()))
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

    /** Tells watchers that the daemon stops. */
    @Override
    public void close() {
        subscription.close();
        watchers.forEach(Watcher::end);
    }
}
