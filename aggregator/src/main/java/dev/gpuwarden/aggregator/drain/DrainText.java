package dev.gpuwarden.aggregator.drain;

import java.util.List;
import java.util.stream.Collectors;

/** What people read of a drain. The same record gives the same text. */
public final class DrainText {

    private DrainText() {}

    /** Of what. */
    static String what(DrainAnnotation drain) {
        return drain.full().isPresent()
                ? "all pods"
                : "the pods of " + String.join(", ", drain.gpus().keySet());
    }

    /** How far it is, and what keeps it. */
    public static String of(DrainAnnotation drain) {
        if (drain.finished().isPresent()) {
            return "drained of " + what(drain) + " at " + drain.finished().get();
        }
        String waiting = drain.waiting().isEmpty() ? "" : ": " + waiting(drain.waiting());
        int more = drain.left() - drain.waiting().size();
        return (drain.failed() ? "not drained of " : "being drained of ") + what(drain) + " for " + drain.why() + ", "
                + drain.left() + (drain.left() == 1 ? " pod" : " pods") + " left" + waiting
                + (!waiting.isEmpty() && more > 0 ? "; and " + more + " more" : "")
                + drain.reopened().map(again -> "; " + of(again)).orElse("");
    }

    static String of(DrainAnnotation.Reopened again) {
        return "it was drained at " + again.finished() + ", and is open again since " + again.at();
    }

    static String waiting(List<DrainAnnotation.Waiting> waiting) {
        return waiting.stream().map(DrainText::of).collect(Collectors.joining("; "));
    }

    private static String of(DrainAnnotation.Waiting pod) {
        return (pod.pod().isEmpty() ? "" : pod.pod() + ": ") + pod.why() + ", since " + pod.since();
    }

    /** What has to happen. */
    public static String next(DrainAnnotation drain) {
        if (!drain.active()) {
            return "";
        }
        return drain.failed()
                ? "move or delete what is left by hand, or allow it"
                : drain.waiting().stream().anyMatch(pod -> pod.step().equals("evict"))
                        ? "tried again until it is allowed; the node is drained when the last pod has ended"
                        : "the node is drained when the last pod has ended";
    }
}
