package dev.gpuwarden.aggregator.remediation;

import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * An action of this program, of a template, or by hand. The group is restart, reset-GPU, reset-GPU+GPU, reset-all by hand, or
 * the name of a template, with its kind if that is another one, and with GPUs if it acts on them.
 */
final class ModelAction {

    /** The reasons of resources that fail: tried, refused for a while, and refused for good. */
    static final List<String> REASONS =
            List.of("", "", "ResetJobFailed", "NodeNotDrained", "NodeNotDrained", "LockLost", "GPUNotOnNode");

    enum State {
        /** Recorded on the Node; the leader was killed before it made the resource. */
        UNMADE,
        RUNNING,
        GOOD,
        BAD,
        GONE,
        /** It might no longer begin before its resource was made, so it counts for nothing. */
        WITHDRAWN,
        /** Nothing was tried, for a reason that an operator must end. */
        REFUSED,
        /** Nothing was tried, for a reason that ends by itself. */
        POSTPONED;

        /** Returns the end of a resource that has failed for a reason. */
        static State of(String reason) {
            return switch (reason) {
                case "NodeNotDrained", "LockLost" -> POSTPONED;
                case "GPUNotOnNode" -> REFUSED;
                default -> BAD;
            };
        }

        /** Returns true if the end proves nothing about the hardware. */
        boolean untried() {
            return this == WITHDRAWN || this == REFUSED || this == POSTPONED;
        }
    }

    /**
     * The end of a resource, before the program has seen it.
     *
     * @param at time that the resource has
     */
    record End(State how, long at) {}

    final String group;
    /** False for an action by hand, and for one whose record was removed. */
    boolean recorded;

    final Set<String> subjects;
    final long at;
    final int session;
    final String first;
    State state;
    Optional<End> unseen = Optional.empty();
    long ended;

    ModelAction(String group, boolean byHand, Set<String> subjects, String first, long at, int session) {
        this.group = group;
        this.recorded = !byHand;
        this.subjects = subjects;
        this.first = first;
        this.at = at;
        this.session = session;
        this.state = byHand ? State.RUNNING : State.UNMADE;
    }

    boolean ofTemplate() {
        return !group.equals("restart") && !group.startsWith("reset-");
    }

    void end(State how, long now) {
        state = how;
        ended = now;
        unseen = Optional.empty();
    }

    /** The program sees the end. A time before the attempt or in the future is none. */
    void see(long now) {
        unseen.ifPresent(end -> end(end.how(), end.at() < at || end.at() > now ? now : end.at()));
    }
}
