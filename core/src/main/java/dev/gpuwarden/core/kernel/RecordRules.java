package dev.gpuwarden.core.kernel;

import java.util.List;
import java.util.Set;

/** More rules for records of the kernel log, independent of the parser, for example node-problem-detector's. Not thread-safe. */
public interface RecordRules {

    /** Rules that match nothing. */
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
     * Returns the matches of a record, together with the records before it. Must be called with every record of the kernel in order,
     * also with those that have a known message. Never throws.
     */
    List<Found> match(KernelRecord record);

    /** Returns the names of all checks of these rules. A reboot clears their faults. */
    Set<String> checks();

    /**
     * One match, about the node as a whole.
     *
     * @param check the name of the check in events
     * @param code the code of the fault
     * @param lasting whether the fault lasts until the node is booted; else it is over when it does not repeat
     * @param origin the name of the rule, for messages
     */
    record Found(String check, String code, String message, boolean lasting, String origin) {}
}
