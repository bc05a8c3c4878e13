package dev.gpuwarden.daemon.grpc;

import dev.gpuwarden.api.v1.Missed;
import dev.gpuwarden.api.v1.WatchResponse;
import io.grpc.Status;
import io.grpc.stub.ServerCallStreamObserver;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * One watching client. Changes wait in a short queue. If the queue is full, they are dropped and counted, and the
 * client receives the full state again, so that a slow reader does not affect others. Any thread may offer changes;
 * only the event loop sends them.
 *
 * @param <C> a change
 */
final class Watcher<C> {

    static final int QUEUE = 256;

    private final ServerCallStreamObserver<WatchResponse> client;
    private final Executor loop;
    private final Supplier<WatchResponse> state;
    private final Function<C, List<WatchResponse>> messages;
    private final Deque<C> queue = new ArrayDeque<>();
    private final AtomicBoolean due = new AtomicBoolean();
    private long missed;
    private boolean stateDue = true;

    /**
     * Creates a watcher.
     *
     * @param messages returns the messages for a change; may be empty
     */
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
        loop.execute(() -> client.onError(
                Status.UNAVAILABLE.withDescription("the daemon stops").asRuntimeException()));
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
                    Missed dropped = Missed.newBuilder().setChangeCount(missed).build();
                    missed = 0;
                    stateDue = true;
                    return List.of(WatchResponse.newBuilder().setMissed(dropped).build());
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
