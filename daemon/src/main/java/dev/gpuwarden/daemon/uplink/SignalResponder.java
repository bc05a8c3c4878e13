package dev.gpuwarden.daemon.uplink;

import dev.gpuwarden.api.v1.NodeReport;
import dev.gpuwarden.api.v1.Signal;
import dev.gpuwarden.api.v1.Signalled;
import dev.gpuwarden.core.util.Threads;
import dev.gpuwarden.daemon.checkpoint.PodSignals;
import dev.gpuwarden.daemon.sink.Wakeup;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;

/** Sends signals when the aggregator asks: one request after the other, in a thread that is there while there are some. Of one session. */
final class SignalResponder {

    /** More pods than are drained from a node at once; what finds no room is not answered, and asked again on the next connection. */
    private static final int MOST = 256;

    private final SignalSender sender;
    private final Wakeup bell;
    private final Queue<Signal> asked = new ArrayBlockingQueue<>(MOST);
    private final Queue<NodeReport> answers = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean works = new AtomicBoolean();

    SignalResponder(SignalSender sender, Wakeup bell) {
        this.sender = sender;
        this.bell = bell;
    }

    /** Does not wait. */
    void asked(Signal signal) {
        if (asked.offer(signal) && works.compareAndSet(false, true)) {
            Threads.daemon("gpuwarden-signals", this::work).start();
        }
    }

    private void work() {
        do {
            for (Signal next = asked.poll(); next != null; next = asked.poll()) {
                answers.add(answer(next));
                bell.ring();
            }
            works.set(false);
            // Something may have come between the two.
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

    /** The next that is done, once. */
    Optional<NodeReport> answer() {
        return Optional.ofNullable(answers.poll());
    }
}
