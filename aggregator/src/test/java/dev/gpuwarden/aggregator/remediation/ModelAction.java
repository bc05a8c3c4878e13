package dev.gpuwarden.aggregator.remediation;

import java.util.Set;

/**
 * An action of this program, of a template, or by hand. The group is restart, reset-GPU, reset-GPU+GPU, reset-all by hand, or
 * the name of a template, with GPUs if it acts on them.
 */
final class ModelAction {

    enum State {
        /** Recorded on the Node; the leader was killed before it made the resource. */
        UNMADE,
        RUNNING,
        GOOD,
        BAD,
        GONE,
        /** Its fault was over before its resource was made, so it counts for nothing. */
        WITHDRAWN
    }

    final String group;
    final boolean byHand;
    final Set<String> subjects;
    final long at;
    final int session;
    final String first;
    State state;
    long ended;

    ModelAction(String group, boolean byHand, Set<String> subjects, String first, long at, int session) {
        this.group = group;
        this.byHand = byHand;
        this.subjects = subjects;
        this.first = first;
        this.at = at;
        this.session = session;
        this.state = byHand ? State.RUNNING : State.UNMADE;
    }

    void end(State how, long now) {
        state = how;
        ended = now;
    }
}
