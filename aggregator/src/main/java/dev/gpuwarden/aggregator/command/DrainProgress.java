package dev.gpuwarden.aggregator.command;

import dev.gpuwarden.aggregator.drain.ManualDrain;
import dev.gpuwarden.aggregator.drain.ManualDrainState;
import dev.gpuwarden.aggregator.drain.ManualDrainState.ManualPod.State;
import dev.gpuwarden.cli.Durations;
import dev.gpuwarden.cli.Table;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The progress of a drain for the waiting operator: a line for each change, and at intervals a line without a change. */
final class DrainProgress implements ManualDrain.Listener {

    private static final Duration SILENCE = Duration.ofSeconds(10);
    private static final Duration LONG_SILENCE = Duration.ofMinutes(1);

    private final String node;
    private final Consumer<String> line;
    private final Map<String, ManualDrainState.ManualPod> before = new HashMap<>();
    private String waits = "";
    private @Nullable Instant began;
    private Instant spoken = Instant.MIN;

    DrainProgress(String node, Consumer<String> line) {
        this.node = node;
        this.line = line;
    }

    void cordoned(NodeCommand.NodeChange.Outcome cordon) {
        print(node, cordon.written() ? "cordoned" : cordon.plan().why());
    }

    /** Prints a note about the GPUs of the drain. */
    void noted(String note) {
        print(node, note);
    }

    @Override
    public void waits(String why) {
        if (!why.equals(waits)) {
            waits = why;
            print(node, why);
        }
    }

    @Override
    public void evaluated(ManualDrainState state, Instant now) {
        boolean news = false;
        if (began == null) {
            began = now;
            print(node, counts(state.pods()));
            news = true;
        }
        for (ManualDrainState.ManualPod pod : state.pods()) {
            Optional<String> text = change(Optional.ofNullable(before.put(pod.uid(), pod)), pod);
            text.ifPresent(words -> print(pod.path(), words));
            news |= text.isPresent();
        }
        if (news) {
            spoken = now;
        } else if (!spoken.plus(silence(Duration.between(began, now))).isAfter(now)) {
            spoken = now;
            print(node, summary(state.pods(), Duration.between(began, now)));
        }
    }

    /** Returns the pause before the next line without a change, which grows with the duration. */
    private static Duration silence(Duration since) {
        Duration quarter = since.dividedBy(4);
        Duration least = quarter.compareTo(SILENCE) < 0 ? SILENCE : quarter;
        return least.compareTo(LONG_SILENCE) > 0 ? LONG_SILENCE : least;
    }

    private void print(String who, String what) {
        line.accept(Table.escape(who + ": " + what));
    }

    private static String counts(List<ManualDrainState.ManualPod> pods) {
        long all = pods.stream().filter(ManualDrainState.ManualPod::inTheWay).count();
        long stay = pods.stream().filter(pod -> pod.state() == State.STAYS).count();
        return pods(all - stay) + " to go" + (stay == 0 ? "" : ", " + pods(stay) + " that you must handle") + ", "
                + pods(pods.size() - all) + " that may stay";
    }

    static String pods(long count) {
        return count == 1 ? "one pod" : count + " pods";
    }

    private static Optional<String> change(Optional<ManualDrainState.ManualPod> was, ManualDrainState.ManualPod is) {
        boolean same = was.filter(one -> one.state() == is.state() && one.why().equals(is.why()))
                .isPresent();
        if (same || is.state() == State.LEFT || is.state() == State.EVICT) {
            return Optional.empty();
        }
        boolean evicted = is.state() == State.GOING
                && was.filter(one -> one.state() != State.GOING).isPresent();
        return Optional.of(evicted ? "evicted, " + is.why() : words(is));
    }

    /** Returns the state of a pod as text. */
    static String words(ManualDrainState.ManualPod pod) {
        return switch (pod.state()) {
            case GONE -> "gone";
            case EVICT -> "is evicted";
            case REFUSED -> "refused since " + pod.since() + ": " + pod.why();
            case GOING -> "ending: " + pod.why();
            case SAVES -> pod.why();
            case AWAIT -> "awaited: " + pod.why();
            case STAYS -> "stays: " + pod.why();
            case LEFT -> "may stay: " + pod.why();
        };
    }

    private static String summary(List<ManualDrainState.ManualPod> pods, Duration since) {
        List<ManualDrainState.ManualPod> left = pods.stream()
                .filter(pod -> pod.inTheWay() && pod.state() != State.STAYS)
                .toList();
        long gone = pods.stream().filter(pod -> pod.state() == State.GONE).count();
        String first = left.stream()
                .findFirst()
                .map(pod -> "; " + pod.path() + ": " + words(pod))
                .orElse("");
        return pods(left.size()) + " to go, " + gone + " gone after "
                + Durations.text(Duration.ofSeconds(since.toSeconds())) + first
                + (left.size() > 1 ? "; and " + (left.size() - 1) + " more" : "");
    }
}
