package dev.gpuwarden.daemon.grpc;

import io.grpc.stub.ServerCallStreamObserver;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Sends states to one client, of each kind the newest alone where the client reads slowly. Thread-safe.
 *
 * @param <S> a state
 * @param <M> its message
 */
final class StateStream<S, M> implements Consumer<S> {

    private final ServerCallStreamObserver<M> client;
    private final Executor loop;
    private final Function<S, M> toWire;
    private final Function<S, String> kind;
    private final Predicate<S> last;
    private final Map<String, S> next = new LinkedHashMap<>();
    private @Nullable Runnable onEnd;
    private boolean over;

    /**
     * Call it before the service's method returns.
     *
     * @param loop sends all messages
     * @param kind a later state replaces an unsent one of its kind
     * @param last whether the call ends after this state
     */
    StateStream(
            ServerCallStreamObserver<M> client,
            Executor loop,
            Function<S, M> toWire,
            Function<S, String> kind,
            Predicate<S> last) {
        this.client = client;
        this.loop = loop;
        this.toWire = toWire;
        this.kind = kind;
        this.last = last;
        client.setOnReadyHandler(this::send);
        client.setOnCancelHandler(this::end);
    }

    /** Runs this when the call ends; immediately if it has ended. */
    void onEnd(Runnable action) {
        synchronized (this) {
            if (!over) {
                onEnd = action;
                return;
            }
        }
        action.run();
    }

    @Override
    public void accept(S state) {
        synchronized (this) {
            next.put(kind.apply(state), state);
        }
        loop.execute(this::send);
    }

    private void end() {
        Runnable action;
        synchronized (this) {
            over = true;
            action = onEnd;
        }
        if (action != null) {
            action.run();
        }
    }

    /** Runs on the event loop alone. */
    private void send() {
        while (client.isReady() && !client.isCancelled()) {
            S now;
            synchronized (this) {
                if (over || next.isEmpty()) {
                    return;
                }
                now = next.remove(next.keySet().iterator().next());
                over = last.test(now);
            }
            client.onNext(toWire.apply(now));
            if (last.test(now)) {
                client.onCompleted();
            }
        }
    }
}
