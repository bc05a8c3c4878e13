package dev.gpuwarden.daemon.kube;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.http.HttpResponse.BodySubscriber;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow.Subscription;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * An endless answer that is read line by line. The next part is requested when a reader waits for it, so a fast server fills no
 * memory. One thread reads; any may close it.
 */
final class LineBody implements BodySubscriber<LineBody>, AutoCloseable {

    /** A part of the answer, or its end: normal without a cause. */
    private record Part(byte[] bytes, boolean end, @Nullable Throwable cause) {}

    private final int mostBytes;
    private final BlockingQueue<Part> parts = new LinkedBlockingQueue<>();
    private final CompletableFuture<Subscription> source = new CompletableFuture<>();
    private final ByteArrayOutputStream line = new ByteArrayOutputStream();
    private byte[] part = new byte[0];
    private int at;
    private boolean requested;

    /** @param mostBytes bound on one line */
    LineBody(int mostBytes) {
        this.mostBytes = mostBytes;
    }

    /**
     * Returns the next line; empty at the end of the answer, where an unfinished line is dropped. Blocks.
     *
     * @throws IOException if the connection fails, no line comes within the time, or one is too long
     */
    Optional<byte[]> next(Duration patience) throws IOException, InterruptedException {
        long end = System.nanoTime() + patience.toNanos();
        while (true) {
            for (; at < part.length; at++) {
                if (part[at] == '\n') {
                    at++;
                    byte[] whole = line.toByteArray();
                    line.reset();
                    return Optional.of(whole);
                }
                line.write(part[at]);
            }
            if (line.size() > mostBytes) {
                throw new IOException("expected a line of at most " + mostBytes + " bytes, but there are more");
            }
            if (!requested) {
                requested = true;
                var unused = source.thenAccept(subscription -> subscription.request(1));
            }
            Part next = parts.poll(end - System.nanoTime(), TimeUnit.NANOSECONDS);
            if (next == null) {
                throw new IOException("no sign of life within " + patience.toSeconds() + " s");
            }
            if (next.cause() != null) {
                throw new IOException(next.cause());
            }
            if (next.end()) {
                return Optional.empty();
            }
            requested = false;
            part = next.bytes();
            at = 0;
        }
    }

    @Override
    public CompletionStage<LineBody> getBody() {
        return CompletableFuture.completedFuture(this);
    }

    @Override
    public void onSubscribe(Subscription given) {
        source.complete(given);
    }

    @Override
    public void onNext(List<ByteBuffer> buffers) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        for (ByteBuffer buffer : buffers) {
            byte[] copy = new byte[buffer.remaining()];
            buffer.get(copy);
            bytes.writeBytes(copy);
        }
        parts.add(new Part(bytes.toByteArray(), false, null));
    }

    @Override
    public void onError(Throwable cause) {
        parts.add(new Part(new byte[0], true, cause));
    }

    @Override
    public void onComplete() {
        parts.add(new Part(new byte[0], true, null));
    }

    /** Ends the connection. */
    @Override
    public void close() {
        var unused = source.thenAccept(Subscription::cancel);
    }
}
