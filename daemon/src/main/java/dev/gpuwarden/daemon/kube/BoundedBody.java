package dev.gpuwarden.daemon.kube;

import java.io.IOException;
import java.net.http.HttpResponse.BodySubscriber;
import java.net.http.HttpResponse.BodySubscribers;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow.Subscription;
import org.jspecify.annotations.Nullable;

/** An answer's bytes; an answer that does not end is cut off, and is an error. */
final class BoundedBody implements BodySubscriber<byte[]> {

    private final BodySubscriber<byte[]> all = BodySubscribers.ofByteArray();
    private final long most;
    private long seen;
    private @Nullable Subscription subscription;

    BoundedBody(long most) {
        this.most = most;
    }

    @Override
    public CompletionStage<byte[]> getBody() {
        return all.getBody();
    }

    @Override
    public void onSubscribe(Subscription given) {
        subscription = given;
        all.onSubscribe(given);
    }

    @Override
    public void onNext(List<ByteBuffer> buffers) {
        seen += buffers.stream().mapToLong(ByteBuffer::remaining).sum();
        if (seen <= most) {
            all.onNext(buffers);
        } else if (subscription != null) {
            subscription.cancel();
            all.onError(new IOException("expected an answer of at most " + most + " bytes, but there are more"));
        }
    }

    @Override
    public void onError(Throwable cause) {
        all.onError(cause);
    }

    @Override
    public void onComplete() {
        all.onComplete();
    }
}
