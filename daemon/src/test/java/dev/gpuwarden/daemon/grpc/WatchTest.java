package dev.gpuwarden.daemon.grpc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.api.v1.FaultChange;
import dev.gpuwarden.api.v1.NodeServiceGrpc;
import dev.gpuwarden.api.v1.WatchKind;
import dev.gpuwarden.api.v1.WatchRequest;
import dev.gpuwarden.api.v1.WatchResponse;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import dev.gpuwarden.core.telemetry.GpuState;
import io.grpc.Context;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientResponseObserver;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class WatchTest {

    @TempDir
    Path folder;

    private ServedNode node;

    @BeforeEach
    void start() {
        node = ServedNode.start(folder);
    }

    @AfterEach
    void stop() {
        node.close();
    }

    /** A client that takes messages one by one, when the test asks for them. */
    private static final class Reader implements ClientResponseObserver<WatchRequest, WatchResponse> {
        final BlockingQueue<WatchResponse> got = new LinkedBlockingQueue<>();
        final CompletableFuture<Status> ended = new CompletableFuture<>();
        ClientCallStreamObserver<WatchRequest> call;

        @Override
        public void beforeStart(ClientCallStreamObserver<WatchRequest> stream) {
            call = stream;
            stream.disableAutoRequestWithInitial(1);
        }

        WatchResponse next() throws InterruptedException {
            WatchResponse response = got.poll(20, TimeUnit.SECONDS);
            assertThat(response).isNotNull();
            call.request(1);
            return response;
        }

        @Override
        public void onNext(WatchResponse response) {
            got.add(response);
        }

        @Override
        public void onError(Throwable error) {
            ended.complete(Status.fromThrowable(error));
        }

        @Override
        public void onCompleted() {}
    }

    private Reader watch(WatchKind... kinds) {
        Reader reader = new Reader();
        NodeServiceGrpc.newStub(node.client.channel())
                .watch(WatchRequest.newBuilder().addAllKinds(List.of(kinds)).build(), reader);
        return reader;
    }

    @Test
    void theStateComesFirstAndThenEachChange() throws Exception {
        node.checks.run(List.of());
        node.store.accept(ServedNode.xid("13").build());
        Reader reader = watch();
        WatchResponse first = reader.next();
        assertThat(first.getState().getFaultsCount()).isEqualTo(2);
        assertThat(first.getState().getChecksCount()).isEqualTo(2);
        assertThat(first.getState().getGpusList()).hasSize(2).allMatch(gpu -> gpu.getReadingsCount() == 0);

        node.store.accept(ServedNode.xid("79").build());
        FaultChange raised = reader.next().getFaults();
        assertThat(raised.getEffect()).isEqualTo(FaultChange.Effect.RAISED);
        assertThat(raised.getFaultsList())
                .hasSize(2)
                .allMatch(fault -> fault.getKey().getErrorCode().equals("79"));
        assertThat(reader.next().getEvent().getEvent().getErrorCode(0)).isEqualTo("79");

        node.store.accept(ServedNode.xid("79").fatal(false).healthy(true).build());
        FaultChange cleared = reader.next().getFaults();
        assertThat(cleared.getEffect()).isEqualTo(FaultChange.Effect.CLEARED);
        assertThat(cleared.getClearedCount()).isEqualTo(2);
        assertThat(reader.next().getEvent().getEvent().getIsHealthy()).isTrue();
    }

    @Test
    void changedChecksAndGpusAreSent() throws Exception {
        node.checks.run(List.of());
        Reader reader = watch(WatchKind.WATCH_KIND_CHECKS, WatchKind.WATCH_KIND_GPUS);
        assertThat(reader.next().getState().getFaultsCount()).isZero();
        node.checks.run(List.of("port"));
        assertThat(reader.next().getCheck().getCheckId()).isEqualTo("port");
        NodeSnapshot before = node.node.get();
        GpuSnapshot second = before.gpus().get(1);
        GpuSnapshot lost = new GpuSnapshot(
                second.identity(),
                GpuState.LOST,
                "code 15",
                second.frame(),
                second.ageNanos(),
                second.processes(),
                second.processesAgeNanos(),
                second.refusedValues(),
                second.mig());
        node.node.set(new NodeSnapshot(
                before.driver(), before.pciGpus(), List.of(before.gpus().get(0), lost)));
        WatchResponse change = reader.next();
        assertThat(change.getGpu().getIndex()).isEqualTo(1);
        assertThat(change.getGpu().getStateDetail()).isEqualTo("code 15");
    }

    @Test
    void aSlowReaderMissesChangesAndGetsTheStateAndOthersGetAll() throws Exception {
        Reader slow = watch(WatchKind.WATCH_KIND_EVENTS, WatchKind.WATCH_KIND_FAULTS);
        Reader quick = watch(WatchKind.WATCH_KIND_EVENTS);
        assertThat(quick.next().hasState()).isTrue();
        // The windows of the connection and the slow client's queue hold far less.
        List<HealthEvent> storm = IntStream.range(0, 1500)
                .mapToObj(i -> ServedNode.xid("79")
                        .id("storm-" + i)
                        .message(i + "m".repeat(2000))
                        .build())
                .toList();
        for (int from = 0; from < storm.size(); from += 50) {
            node.store.accept(storm.subList(from, from + 50), java.util.Optional.empty());
            for (int i = 0; i < 50; i++) {
                assertThat(quick.next().hasEvent()).isTrue();
            }
        }
        long told = 0;
        long missed = 0;
        boolean state = false;
        List<WatchResponse> all = new ArrayList<>();
        while (told + missed < 2 * 1500 || !state) {
            WatchResponse next = slow.next();
            all.add(next);
            if (next.hasMissed()) {
                // A change that is dropped may stand for two messages: of the event and of the faults.
                missed += 2 * next.getMissed().getChangeCount();
                state = false;
            } else if (next.hasState()) {
                state = true;
            } else {
                told++;
            }
        }
        assertThat(missed).isPositive();
        assertThat(told + missed).isEqualTo(3000);
        int gap = IntStream.range(0, all.size())
                .filter(i -> all.get(i).hasMissed())
                .findFirst()
                .orElseThrow();
        assertThat(all.get(gap + 1).getState().getFaultsCount()).isEqualTo(2);
    }

    @Test
    void aCancelledWatchIsRemoved() throws Exception {
        Reader reader = watch();
        reader.next();
        assertThat(node.server.stats().watchers()).isEqualTo(1);
        reader.call.cancel("enough", null);
        while (node.server.stats().watchers() > 0) {
            Thread.onSpinWait();
        }
        node.store.accept(ServedNode.xid("79").build());
    }

    @Test
    void watchersAreLimitedInNumber() {
        List<Context.CancellableContext> contexts = new ArrayList<>();
        try (NodeClient more = NodeClient.of(node.socket);
                NodeClient evenMore = NodeClient.of(node.socket)) {
            List<Iterator<WatchResponse>> watches = new ArrayList<>();
            for (int i = 0; i < 65; i++) {
                NodeClient client = List.of(node.client, more, evenMore).get(i / 30);
                Context.CancellableContext context = Context.current().withCancellation();
                contexts.add(context);
                context.run(() -> watches.add(
                        NodeServiceGrpc.newBlockingStub(client.channel()).watch(WatchRequest.getDefaultInstance())));
                if (i < 64) {
                    assertThat(watches.get(i).next().hasState()).isTrue();
                }
            }
            NodeServiceFixture.refused(
                    Status.Code.RESOURCE_EXHAUSTED,
                    "64 watchers",
                    () -> watches.get(64).next());
            contexts.forEach(context -> context.cancel(null));
        } catch (StatusRuntimeException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void watchesEndWhenTheDaemonStops() throws Exception {
        Reader reader = watch();
        reader.next();
        node.server.close();
        assertThat(reader.ended.get(20, TimeUnit.SECONDS).getCode()).isEqualTo(Status.Code.UNAVAILABLE);
    }
}
