package dev.gpuwarden.core.port;

import dev.gpuwarden.core.model.Reading;
import java.util.OptionalLong;

/**
 * Limits of GPU memory that the driver holds control groups to (cgroup v2). Drivers before R615 have none. Thread-safe;
 * calls may block in the driver without limit.
 */
public interface CgroupLimits {

    /**
     * The limits of one control group on one GPU.
     *
     * @param softBytes what the driver keeps for the group; 0 for nothing
     * @param hardBytes what the group can have at most; empty for no such limit
     */
    record Limit(long softBytes, OptionalLong hardBytes) {

        /** No limit. */
        public static final Limit NONE = new Limit(0, OptionalLong.empty());
    }

    /**
     * A limit and what the driver counts against it.
     *
     * @param usedBytes of the group and those below it
     */
    record Use(Limit limit, long usedBytes) {}

    /**
     * Reads the limits of a group.
     *
     * @param folder full path of the group's folder
     * @return absent with NO_DATA where the group has no limit, with NO_SYMBOL or NOT_SUPPORTED where the driver has none
     */
    Reading<Use> get(String gpuUuid, String folder);

    /**
     * Sets the limits of a group, or removes them with {@link Limit#NONE}. Needs root.
     *
     * @return absent with the cause where the driver refused it
     */
    Reading<Limit> set(String gpuUuid, String folder, Limit limit);
}
