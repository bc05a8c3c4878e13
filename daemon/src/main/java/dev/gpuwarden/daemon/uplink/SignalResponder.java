package dev.gpuwarden.daemon.uplink;

import dev.gpuwarden.api.v1.NodeReport;
import dev.gpuwarden.api.v1.Signal;
import dev.gpuwarden.api.v1.Signalled;
import dev.gpuwarden.core.util.Threads;
import dev.gpuwarden.core.util.Wakeup;
import dev.gpuwarden.daemon.checkpoint.PodSignals;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Sends signals on the aggregator's request, one request after the other, in a thread that lives while requests wait.
 * Used by one session.
 */
final class SignalResponder {

    /**
     * The longest queue: more pods than are drained from a node at one time. A request beyond it is not answered; the
     * aggregator repeats it on the next connection.
     */
    private static final int MOST = 256;

    private final UplinkNode.SignalSender sender;
    private final Wakeup wakeup;
    private final Queue<Signal> asked = new ArrayBlockingQueue<>(MOST);
    private final Queue<NodeReport> answers = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean works = new AtomicBoolean();

    SignalResponder(UplinkNode.SignalSender sender, Wakeup wakeup) {
        this.sender = sender;
        this.wakeup = wakeup;
    }

    /** Adds a request. Does not block. */
    void asked(Signal signal) {
        if (asked.offer(signal) && works.compareAndSet(false, true)) {
            Threads.daemon("gpuwarden-signals", this::work).start();
        }
    }

    private void work() {
        do {
            for (Signal next = asked.poll(); next != null; next = asked.poll()) {
                answers.add(answer(next));
                wakeup.signal();
            }
            works.set(false);
            // A request may have come between the two.
        } while (!asked.isEmpty() && works.compareAndSet(false, true));
    }

    private NodeReport answer(Signal signal) {
        PodSignals.Answer answer;
        try {
            answer = sender.send(signal.getId(), signal.getPodUid(), signal.getSignal());
        } catch (RuntimeException e) {
            answer = new PodSignals.Answer(0, e.toString());
        }
        return NodeReport.newBuilder()
                .setSignalled(Signalled.newBuilder()
                        .setId(signal.getId())
                        .setProcesses(answer.signalled())
                        .setError(answer.error()))
                .build();
    }

    /** Returns the next answer and removes it. */
    Optional<NodeReport> answer() {
        return Optional.ofNullable(answers.poll());
    }
}
