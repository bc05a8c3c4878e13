package dev.gpuwarden.daemon.grpc;

import dev.gpuwarden.api.CheckCodec;
import dev.gpuwarden.api.FaultCodec;
import dev.gpuwarden.api.GpuCodec;
import dev.gpuwarden.api.HealthEventCodec;
import dev.gpuwarden.api.MemoryCodec;
import dev.gpuwarden.api.NodeCodec;
import dev.gpuwarden.api.Timestamps;
import dev.gpuwarden.api.v1.Check;
import dev.gpuwarden.api.v1.CheckResult;
import dev.gpuwarden.api.v1.GetCheckRequest;
import dev.gpuwarden.api.v1.GetEventRequest;
import dev.gpuwarden.api.v1.GetEventResponse;
import dev.gpuwarden.api.v1.GetGpuRequest;
import dev.gpuwarden.api.v1.GetNodeRequest;
import dev.gpuwarden.api.v1.Gpu;
import dev.gpuwarden.api.v1.ListChecksRequest;
import dev.gpuwarden.api.v1.ListChecksResponse;
import dev.gpuwarden.api.v1.ListEventsRequest;
import dev.gpuwarden.api.v1.ListEventsResponse;
import dev.gpuwarden.api.v1.ListFaultsRequest;
import dev.gpuwarden.api.v1.ListFaultsResponse;
import dev.gpuwarden.api.v1.ListGpusRequest;
import dev.gpuwarden.api.v1.ListGpusResponse;
import dev.gpuwarden.api.v1.ListPodMemoryRequest;
import dev.gpuwarden.api.v1.ListPodMemoryResponse;
import dev.gpuwarden.api.v1.ListVramBudgetsRequest;
import dev.gpuwarden.api.v1.ListVramBudgetsResponse;
import dev.gpuwarden.api.v1.Node;
import dev.gpuwarden.api.v1.NodeServiceGrpc;
import dev.gpuwarden.api.v1.RunChecksRequest;
import dev.gpuwarden.api.v1.SetHealthyRequest;
import dev.gpuwarden.api.v1.SetHealthyResponse;
import dev.gpuwarden.api.v1.Unreached;
import dev.gpuwarden.api.v1.WatchRequest;
import dev.gpuwarden.api.v1.WatchResponse;
import dev.gpuwarden.core.check.CheckInfo;
import dev.gpuwarden.core.check.NodeVerdict;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.StoredEvent;
import dev.gpuwarden.core.model.Identifiers;
import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.process.GpuMemoryUse;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import dev.gpuwarden.daemon.vram.VramView;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * The service for queries about the node. Answers from memory are sent from the event loop; answers from disk come
 * from workers.
 */
final class NodeService extends NodeServiceGrpc.NodeServiceImplBase {

    /**
     * The reuse time of a snapshot, which copies every reading of every GPU: one for each call would keep the garbage
     * collector busy.
     */
    private static final Duration SNAPSHOT_GOOD_FOR = Duration.ofMillis(200);

    /** The reuse time of memory attribution, which reads /proc for each process. */
    private static final Duration MEMORY_GOOD_FOR = Duration.ofSeconds(5);

    /** The owners of GPU memory at one time. */
    private record MemoryReading(List<GpuMemoryUse> gpus, Instant at) {}

    private final NodeSources sources;
    private final AccessPolicy access;
    private final WorkerPool reading;
    private final WorkerPool checking;
    private final WatchHub hub;
    private final CachedSupplier<NodeSnapshot> snapshots;
    private final CachedSupplier<MemoryReading> memory;
    private final EventPager pages;

    /**
     * @param reading for answers from disk
     * @param checking for runs of checks, which may take minutes
     */
    NodeService(NodeSources sources, AccessPolicy access, WorkerPool reading, WorkerPool checking, WatchHub hub) {
        this.sources = sources;
        this.access = access;
        this.reading = reading;
        this.checking = checking;
        this.hub = hub;
        this.snapshots = new CachedSupplier<>(sources.node(), SNAPSHOT_GOOD_FOR, System::nanoTime);
        this.memory = new CachedSupplier<>(
                () -> new MemoryReading(
                        sources.memory().apply(snapshots.get()), sources.clock().instant()),
                MEMORY_GOOD_FOR,
                System::nanoTime);
        this.pages = new EventPager(sources.events());
    }

    @Override
    public void getNode(GetNodeRequest request, StreamObserver<Node> client) {
        WorkerPool.answer(client, this::node);
    }

    private Node node() {
        NodeSources.Identity identity = sources.identity();
        NodeSnapshot now = snapshots.get();
        List<Fault> faults = sources.events().faults();
        List<dev.gpuwarden.core.check.CheckResult> results = sources.checks().results();
        Node.Builder node = Node.newBuilder()
                .setDaemonStarted(Timestamps.toWire(identity.started()))
                .setName(identity.nodeName())
                .setBootId(identity.bootId())
                .setVersion(identity.version())
                .setDriver(NodeCodec.toWire(now.driver()))
                .setPciGpus(NodeCodec.pciGpus(now.pciGpus()))
                .setVerdict(CheckCodec.toWire(NodeVerdict.of(results, faults)))
                .setGpuCount(now.gpus().size())
                .setFaultCount(faults.size());
        sources.unreached()
                .get()
                .forEach((receiver, why) -> node.addUnreached(
                        Unreached.newBuilder().setReceiver(receiver).setWhy(why)));
        sources.notStored().get().ifPresent(node::setNotStored);
        NodeVerdict.reasons(results, faults).forEach(finding -> node.addReasons(CheckCodec.toWire(finding)));
        return node.build();
    }

    @Override
    public void listGpus(ListGpusRequest request, StreamObserver<ListGpusResponse> client) {
        WorkerPool.answer(client, () -> {
            ListGpusResponse.Builder gpus = ListGpusResponse.newBuilder();
            snapshots.get().gpus().forEach(gpu -> gpus.addGpus(GpuCodec.toWire(gpu, request.getView())));
            return gpus.build();
        });
    }

    @Override
    public void getGpu(GetGpuRequest request, StreamObserver<Gpu> client) {
        WorkerPool.answer(
                client,
                () -> find(snapshots.get().gpus(), request.getGpu())
                        .map(gpu -> GpuCodec.toWire(gpu, request.getView()))
                        .orElseThrow(() -> status(
                                Status.NOT_FOUND, "no GPU has that UUID, PCI address or index; ListGpus names all")));
    }

    /** Returns the GPU with this UUID, PCI address or index. */
    private static Optional<GpuSnapshot> find(List<GpuSnapshot> gpus, String name) {
        Optional<PciAddress> address = PciAddress.parse(name);
        return first(
                        gpus,
                        gpu -> gpu.identity()
                                .uuid()
                                .asOptional()
                                .filter(Identifiers.gpu(name)::equals)
                                .isPresent())
                .or(() -> address.flatMap(wanted ->
                        first(gpus, gpu -> gpu.identity().pci().asOptional().equals(Optional.of(wanted)))))
                .or(() -> first(
                        gpus, gpu -> Integer.toString(gpu.identity().index()).equals(name)));
    }

    private static Optional<GpuSnapshot> first(List<GpuSnapshot> gpus, Predicate<GpuSnapshot> condition) {
        return gpus.stream().filter(condition).findFirst();
    }

    @Override
    public void listChecks(ListChecksRequest request, StreamObserver<ListChecksResponse> client) {
        WorkerPool.answer(
                client,
                () -> ListChecksResponse.newBuilder()
                        .addAllChecks(CheckMessages.of(sources.checks()))
                        .build());
    }

    @Override
    public void getCheck(GetCheckRequest request, StreamObserver<Check> client) {
        WorkerPool.answer(
                client,
                () -> CheckMessages.of(sources.checks()).stream()
                        .filter(check -> check.getId().equals(request.getId()))
                        .findFirst()
                        .orElseThrow(() -> status(Status.NOT_FOUND, "no check has that id; ListChecks names all")));
    }

    @Override
    public void runChecks(RunChecksRequest request, StreamObserver<CheckResult> client) {
        Optional<String> refusal = access.refusal(Peer.current());
        if (refusal.isPresent()) {
            client.onError(denied("run checks", refusal.get()));
            return;
        }
        Set<String> known =
                sources.checks().checks().stream().map(CheckInfo::id).collect(Collectors.toSet());
        if (!known.containsAll(request.getIdsList())) {
            client.onError(status(Status.INVALID_ARGUMENT, "ids: one that no check has; ListChecks names all"));
            return;
        }
        CheckStream stream = new CheckStream((ServerCallStreamObserver<CheckResult>) client, request.getProgress());
        checking.runLater(client, () -> {
            try {
                Set<String> wanted = request.getIdsCount() == 0 ? known : Set.copyOf(request.getIdsList());
                int ended = sources.checks().run(List.copyOf(wanted), stream).size();
                if (ended < wanted.size() && !stream.gone()) {
                    throw status(Status.UNAVAILABLE, "the daemon stops, and some checks have not ended");
                }
                client.onCompleted();
            } catch (RuntimeException e) {
                client.onError(WorkerPool.status(e).asRuntimeException());
            }
        });
    }

    @Override
    public void listPodMemory(ListPodMemoryRequest request, StreamObserver<ListPodMemoryResponse> client) {
        reading.answerLater(client, () -> {
            MemoryReading memoryReading = memory.get();
            ListPodMemoryResponse.Builder gpus = ListPodMemoryResponse.newBuilder();
            memoryReading.gpus().forEach(gpu -> gpus.addGpus(MemoryCodec.toWire(gpu, request.getGrouping())));
            return gpus.setAt(Timestamps.toWire(memoryReading.at())).build();
        });
    }

    @Override
    public void listVramBudgets(ListVramBudgetsRequest request, StreamObserver<ListVramBudgetsResponse> client) {
        WorkerPool.answer(
                client,
                () -> VramMessages.toWire(
                        sources.vram().get().stream().map(VramView::of).toList()));
    }

    @Override
    public void listFaults(ListFaultsRequest request, StreamObserver<ListFaultsResponse> client) {
        WorkerPool.answer(client, () -> {
            FaultMessages.FaultList list = FaultMessages.FaultList.of(sources.events().faults().stream()
                    .filter(fault -> FaultMessages.FaultList.asked(request, fault))
                    .toList());
            return ListFaultsResponse.newBuilder()
                    .addAllFaults(list.faults())
                    .setLeftOut(list.leftOut())
                    .build();
        });
    }

    @Override
    public void listEvents(ListEventsRequest request, StreamObserver<ListEventsResponse> client) {
        reading.answerLater(client, () -> pages.page(request));
    }

    @Override
    public void getEvent(GetEventRequest request, StreamObserver<GetEventResponse> client) {
        reading.answerLater(client, () -> {
            StoredEvent event = sources.events()
                    .event(request.getId())
                    .orElseThrow(() -> status(Status.NOT_FOUND, "the store has no event with that id"));
            GetEventResponse.Builder response = GetEventResponse.newBuilder().setEvent(FaultCodec.toWire(event));
            if (request.getWithRecording()) {
                sources.recordings()
                        .apply(event.event().id())
                        .ifPresent(bytes -> response.setRecording(com.google.protobuf.ByteString.copyFrom(bytes)));
            }
            return response.build();
        });
    }

    @Override
    public void setHealthy(SetHealthyRequest request, StreamObserver<SetHealthyResponse> client) {
        Peer peer = Peer.current();
        Optional<String> refusal = access.refusal(peer);
        if (refusal.isPresent()) {
            client.onError(denied("clear faults", refusal.get()));
            return;
        }
        reading.answerLater(client, () -> clear(request, peer));
    }

    private SetHealthyResponse clear(SetHealthyRequest request, Peer peer) {
        ClearFaults.Selection selection = new ClearFaults.Selection(
                request.getAgent(),
                request.getComponentClass(),
                request.getCheckName(),
                Set.copyOf(request.getErrorCodesList()),
                request.getEntitiesList().stream()
                        .map(HealthEventCodec::fromWire)
                        .toList());
        String reason = request.getReason().strip();
        if (reason.isEmpty()
                || reason.length() > ClearFaults.MAX_REASON
                || reason.chars().anyMatch(Character::isISOControl)) {
            String expected = "reason: expected 1 to " + ClearFaults.MAX_REASON + " characters in one line";
            throw status(Status.INVALID_ARGUMENT, expected);
        }
        if (selection.empty() != request.getAll()) {
            throw status(
                    Status.INVALID_ARGUMENT, "expected either conditions that name the faults that are meant, or all");
        }
        List<Fault> selected =
                sources.events().faults().stream().filter(selection::matches).toList();
        List<HealthEvent> events = ClearFaults.events(
                selected,
                new ClearFaults.Request(reason, peer.toString(), sources.clock().instant()));
        if (!events.isEmpty()
                && !EventService.accept(sources.intake(), events).stream().allMatch(EventService::kept)) {
            throw status(Status.UNAVAILABLE, "the store takes nothing now; try again later");
        }
        SetHealthyResponse.Builder response = SetHealthyResponse.newBuilder();
        selected.forEach(fault -> response.addCleared(FaultCodec.toWire(fault.key())));
        return response.build();
    }

    @Override
    public void watch(WatchRequest request, StreamObserver<WatchResponse> client) {
        hub.add(request, (ServerCallStreamObserver<WatchResponse>) client);
    }

    private static StatusRuntimeException denied(String what, String refusal) {
        return status(
                Status.PERMISSION_DENIED,
                "only root, the daemon's user and those of --grpc.admin-uids may " + what + ", outside containers; "
                        + refusal);
    }

    static StatusRuntimeException status(Status status, String why) {
        return status.withDescription(why).asRuntimeException();
    }
}
