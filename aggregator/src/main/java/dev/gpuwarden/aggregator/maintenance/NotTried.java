package dev.gpuwarden.aggregator.maintenance;

import java.util.Set;

/**
 * The reasons for which a maintenance resource ends without a verdict about the hardware: it was refused, withdrawn or interrupted
 * before an attempt, or the attempt has no result. Such an end is no failed repair, so nothing stronger follows from it: it is a
 * task of an operator. The reason is the one of the {@linkplain MaintenanceKind#doneCondition() done condition}. Pure.
 */
public final class NotTried {

    public static final String NODE_NOT_FOUND = "NodeNotFound";
    public static final String NODE_REPLACED = "NodeReplaced";
    public static final String NODE_IN_SERVICE = "NodeInService";
    public static final String NODE_NOT_DRAINED = "NodeNotDrained";
    public static final String SELECTOR_NOT_SUPPORTED = "SelectorNotSupported";
    public static final String GPU_NOT_ON_NODE = "GPUNotOnNode";
    public static final String PART_OF_RESET_UNIT = "PartOfResetUnit";
    public static final String RESET_UNIT_UNKNOWN = "ResetUnitUnknown";
    public static final String ALREADY_IN_PROGRESS = "AlreadyInProgress";
    public static final String BOOT_ID_UNKNOWN = "BootIDUnknown";
    public static final String PROVIDER_UNREACHABLE = "ProviderUnreachable";

    /** The resource was deleted or changed before its action. */
    public static final String CANCELLED = "Cancelled";

    /** Another program has taken the lock of the node. */
    public static final String LOCK_LOST = "LockLost";

    /** The program on the node has tested again just before its act, and has refused it. */
    public static final String REFUSED_ON_NODE = "RefusedOnNode";

    /** Another controller has suspended the Job after its start: its pod may have acted, and its result is lost. */
    public static final String JOB_SUSPENDED = "JobSuspended";

    /** Another janitor has begun to carry out the same resource. */
    public static final String OTHER_JANITOR = "OtherJanitor";

    /** The definition of the kind, or another program, did not keep the status that the action needs. */
    public static final String STATUS_NOT_KEPT = "StatusNotKept";

    /** The GPU Operator upgrades the driver of the node. */
    public static final String DRIVER_UPGRADE = "DriverUpgrade";

    private static final Set<String> REASONS = Set.of(
            NODE_NOT_FOUND,
            NODE_REPLACED,
            NODE_IN_SERVICE,
            NODE_NOT_DRAINED,
            SELECTOR_NOT_SUPPORTED,
            GPU_NOT_ON_NODE,
            PART_OF_RESET_UNIT,
            RESET_UNIT_UNKNOWN,
            ALREADY_IN_PROGRESS,
            BOOT_ID_UNKNOWN,
            PROVIDER_UNREACHABLE,
            CANCELLED,
            LOCK_LOST,
            REFUSED_ON_NODE,
            JOB_SUSPENDED,
            OTHER_JANITOR,
            STATUS_NOT_KEPT,
            DRIVER_UPGRADE);

    private NotTried() {}

    /** @param reason reason of the done condition; empty, or one of another janitor, counts as an attempt */
    public static boolean is(String reason) {
        return REASONS.contains(reason);
    }
}
