package dev.gpuwarden.core.kernel;

import java.util.List;
import java.util.Set;

/** Rules of somebody else that records of the kernel log are matched with, whatever the parser makes of them. Not thread-safe. */
public interface RecordRules {

    /** Matches nothing. */
    RecordRules NONE = new RecordRules() {
        @Override
        public List<Found> match(KernelRecord record) {
            return List.of();
        }

        @Override
        public Set<String> checks() {
            return Set.of();
        }
    };

    /**
     * What the rules find in a record, with those before it. To be given every record of the kernel in order, also those in which
     * something else was found. Never throws, whatever the text.
     */
    List<Found> match(KernelRecord record);

    /** The names of all checks that findings may be of: what a new boot ends. */
    Set<String> checks();

    /**
     * One match, about the node as a whole.
     *
     * @param check the name of the check in events
     * @param code of the fault
     * @param lasting holds until the node is booted; otherwise it was a moment's, and is over when nothing more is seen
     * @param origin which rule, for people
     */
    record Found(String check, String code, String message, boolean lasting, String origin) {}
}
