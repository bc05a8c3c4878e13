package dev.gpuwarden.daemon.uplink.request;

import dev.gpuwarden.api.v1.Acknowledgement;
import dev.gpuwarden.api.v1.Hello;
import dev.gpuwarden.api.v1.NodeReport;
import dev.gpuwarden.api.v1.Welcome;
import dev.gpuwarden.core.util.Threads;
import dev.gpuwarden.core.util.Wakeup;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Answers the aggregator's requests of one kind, one after the other, in a thread that lives while requests wait. An answer is
 * sent over the connection of its request, or not at all. Thread-safe.
 *
 * @param <Q> a request
 */
public final class Responder<Q> implements RequestKind {

    private final int most;
    private final long eachNanos;
    private final Consumer<Hello.Builder> supports;
    private final Function<Acknowledgement, Optional<Q>> decoder;
    private final Function<Q, NodeReport> handler;
    private final BiFunction<Q, String, NodeReport> refusal;
    private final ThreadPoolExecutor thread;
    private final Queue<NodeReport> answers = new ArrayDeque<>();
    private Optional<Wakeup> connection = Optional.empty();
    private long connections;

    /**
     * @param name name of the thread
     * @param most requests that may wait; one more is refused. If the limit is 1, a newer request replaces it instead
     * @param each shortest time between the begins of two answers
     * @param supports states in Hello that the node answers
     * @param decoder returns the request in a message; empty if it is of another kind
     * @param handler carries out a request; may block
     * @param refusal returns the answer to a request that was not carried out, or only in part, by the cause
     */
    public Responder(
            String name,
            int most,
            Duration each,
            Consumer<Hello.Builder> supports,
            Function<Acknowledgement, Optional<Q>> decoder,
            Function<Q, NodeReport> handler,
            BiFunction<Q, String, NodeReport> refusal) {
        this.most = most;
        this.eachNanos = each.toNanos();
        this.supports = supports;
        this.decoder = decoder;
        this.handler = handler;
        this.refusal = refusal;
        this.thread = Threads.pool(1, new ArrayBlockingQueue<>(most), Threads.daemon(name));
        if (most == 1) {
            thread.setRejectedExecutionHandler(new ThreadPoolExecutor.DiscardOldestPolicy());
        }
    }

    @Override
    public void greet(Hello.Builder hello) {
        supports.accept(hello);
    }

    @Override
    public synchronized void welcome(Welcome welcome, Wakeup session) {
        connection = Optional.of(session);
    }

    @Override
    public synchronized boolean received(Acknowledgement message) {
        Optional<Q> request = decoder.apply(message);
        if (most > 1 && answers.size() >= most) {
            // The other side takes no answers, so a refusal would not reach it either.
            return request.isPresent();
        }
        long of = connections;
        try {
            request.ifPresent(one -> thread.execute(() -> work(one, of)));
        } catch (RejectedExecutionException e) {
            answers.add(refusal.apply(request.orElseThrow(), most + " requests wait already"));
        }
        return request.isPresent();
    }

    private void work(Q request, long of) {
        long begun = System.nanoTime();
        send(answered(request), of);
        try {
            TimeUnit.NANOSECONDS.sleep(eachNanos - (System.nanoTime() - begun));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private NodeReport answered(Q request) {
        try {
            return handler.apply(request);
        } catch (RuntimeException e) {
            return refusal.apply(request, e.toString());
        }
    }

    private synchronized void send(NodeReport answer, long of) {
        if (of == connections) {
            if (most == 1) {
                // One that was not taken yet is older.
                answers.clear();
            }
            answers.add(answer);
            connection.ifPresent(Wakeup::signal);
        }
    }

    @Override
    public synchronized Optional<NodeReport> next() {
        return Optional.ofNullable(answers.poll());
    }

    @Override
    public synchronized void end() {
        connections++;
        answers.clear();
        // The other side repeats what it still needs.
        thread.getQueue().clear();
    }
}
