package dev.gpuwarden.benchmarks;

import dev.gpuwarden.api.v1.NodeServiceGrpc;
import dev.gpuwarden.api.v1.WatchKind;
import dev.gpuwarden.api.v1.WatchRequest;
import dev.gpuwarden.api.v1.WatchResponse;
import dev.gpuwarden.core.SuppressForbidden;
import dev.gpuwarden.daemon.grpc.NodeClient;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.util.function.Consumer;

/** The messages of one watch of a daemon. Reports the watch's end, unless this side closed the channel. */
record DaemonWatch(Consumer<WatchResponse> receiver, Runnable ended) implements StreamObserver<WatchResponse> {

    /** grpc-java's description of a channel that this side closed. */
    private static final String OURS = "Channel shutdownNow invoked";

    /** Begins a watch. The receiver is called on one thread. */
    static void begin(NodeClient client, WatchKind kind, Consumer<WatchResponse> receiver) {
        begin(client, kind, receiver, () -> {});
    }

    /** @param ended is called if the daemon ends the watch */
    static void begin(NodeClient client, WatchKind kind, Consumer<WatchResponse> receiver, Runnable ended) {
        NodeServiceGrpc.newStub(client.channel())
                .watch(WatchRequest.newBuilder().addKinds(kind).build(), new DaemonWatch(receiver, ended));
    }

    @Override
    public void onNext(WatchResponse response) {
        receiver.accept(response);
    }

    @Override
    @SuppressForbidden("a program of its own: reports its errors")
    public void onError(Throwable error) {
        if (!OURS.equals(Status.fromThrowable(error).getDescription())) {
            System.err.println("the watch ended: " + error);
            ended.run();
        }
    }

    @Override
    public void onCompleted() {
        ended.run();
    }
}
