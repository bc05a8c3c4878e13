package dev.gpuwarden.aggregator.quarantine;

import dev.gpuwarden.aggregator.controller.ActionMode;
import java.util.List;
import java.util.Map;

/** What is to be done about one node now. */
public sealed interface Decision {

    /** Why, for people. */
    String reason();

    enum Kind {
        QUARANTINE,
        /** It is in quarantine, and more, fewer or other faults hold it there. */
        CHANGE,
        RETURN,
        /** A person has undone a part of it: the rest goes too, and those faults do not bring it back. */
        CANCEL
    }

    /**
     * @param patch one JSON patch of the Node, that fails if the Node is not as it was read any more
     */
    record Act(Kind kind, String reason, List<Map<String, Object>> patch, AuditRecord audit) implements Decision {

        /** False in a dry run. */
        public boolean writes() {
            return audit.mode() == ActionMode.ARMED;
        }
    }

    /** @param refused whether the breaker said no */
    record Leave(String reason, boolean refused) implements Decision {}
}
