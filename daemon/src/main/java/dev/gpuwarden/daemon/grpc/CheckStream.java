package dev.gpuwarden.daemon.grpc;

import dev.gpuwarden.api.CheckCodec;
import dev.gpuwarden.api.v1.CheckResult;
import dev.gpuwarden.core.check.RunListener;
import dev.gpuwarden.core.check.RunningCheck;
import io.grpc.stub.ServerCallStreamObserver;
import java.util.List;

/** Sends results of requested checks to one client as they come. A client that reads slowly gets no progress. */
final class CheckStream implements RunListener {

    private final ServerCallStreamObserver<CheckResult> client;
    private final boolean progress;

    /** @param progress whether the client requested messages about running checks */
    CheckStream(ServerCallStreamObserver<CheckResult> client, boolean progress) {
        this.client = client;
        this.progress = progress;
        // Otherwise sending to a client that has gone throws.
        client.setOnCancelHandler(() -> {});
    }

    @Override
    public void ended(dev.gpuwarden.core.check.CheckResult result) {
        client.onNext(CheckCodec.toWire(result));
    }

    @Override
    public void running(List<RunningCheck> now) {
        // Results are bounded by the number of checks; progress would pile up for a client that does not read.
        if (progress && client.isReady()) {
            now.forEach(check -> client.onNext(CheckResult.newBuilder()
                    .setCheckId(check.check().id())
                    .setRunning(CheckCodec.toWire(check))
                    .build()));
        }
    }

    @Override
    public boolean gone() {
        return client.isCancelled();
    }
}
