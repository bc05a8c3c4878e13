package dev.gpuwarden.core.event;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The reporter of an event, by what the kernel or a certificate proves. The name of the agent is the reporter's own
 * claim. The daemon stores the reporter in the event's metadata; gpuwarden's own programs have none.
 *
 * @param kind equal for reporters that may end each other's faults: the runs of one unit, the pods of one namespace,
 *     the plain processes of one user; never empty
 * @param name the single reporter in words
 */
public record Reporter(String kind, String name) {

    /** The agent of gpuwarden's checks. No other program may report under it. */
    public static final String CHECKS = "gpuwarden";

    /** The agent of gpuwarden's kernel-log monitor, by NVSentinel's name. NVSentinel's own monitor has it too. */
    public static final String KERNEL_LOG = "syslog-health-monitor";

    /** Metadata key of the reporter's name. */
    public static final String NAME = "gpuwarden.dev/reporter";

    /** Metadata key of the reporter's kind. */
    public static final String KIND = "gpuwarden.dev/reporter-kind";

    /** Metadata key of the administrator who ended faults by `set-healthy`. */
    public static final String REQUESTED_BY = "gpuwarden.dev/requested-by";

    /** Metadata key of the administrator's reason. */
    public static final String REASON = "gpuwarden.dev/reason";

    private static final Set<String> RESERVED = Set.of(NAME, KIND, REQUESTED_BY, REASON);

    /** Returns true for metadata that the daemon alone sets. They decide who may end a fault. */
    public static boolean isReserved(String metadataKey) {
        return RESERVED.contains(metadataKey);
    }

    /** Returns the kind of an event's reporter; empty for gpuwarden's own programs and for events of older versions. */
    public static String kindOf(HealthEvent event) {
        return event.metadata().getOrDefault(KIND, "");
    }

    /** Returns the name of an event's reporter; empty like {@link #kindOf}. */
    public static Optional<String> nameOf(HealthEvent event) {
        return Optional.ofNullable(event.metadata().get(NAME));
    }

    /** Returns the name under which an event counts where each sender has a share. A reporter chooses its agent's name. */
    public static String shareOf(HealthEvent event) {
        return shareOf(event.agent(), kindOf(event));
    }

    static String shareOf(String agent, String kind) {
        return kind.isEmpty() ? agent : kind;
    }

    /** Returns the number of characters that {@link #in} adds. */
    public int characters() {
        return KIND.length() + kind.length() + NAME.length() + name.length();
    }

    /** Returns the metadata with this reporter. */
    public Map<String, String> in(Map<String, String> metadata) {
        Map<String, String> all = new LinkedHashMap<>(metadata);
        all.put(NAME, name);
        all.put(KIND, kind);
        return all;
    }

    /**
     * Returns whether a healthy event may end a fault: its reporter is of the kind that raised it, or it is an
     * administrator's. Older versions stored no reporter; such a fault is ended by any report, except under the
     * names of gpuwarden's own programs.
     */
    static boolean mayEnd(HealthEvent healthy, FaultKey fault) {
        boolean unrecorded = fault.reporter().isEmpty()
                && !fault.agent().equals(CHECKS)
                && !fault.agent().equals(KERNEL_LOG);
        return fault.reporter().equals(kindOf(healthy))
                || unrecorded
                || healthy.metadata().containsKey(REQUESTED_BY);
    }
}
