package dev.gpuwarden.core.check;

import dev.gpuwarden.core.model.GpuIdentity;
import java.util.Optional;

/** The limits that checks compare with. */
public interface Limits {

    /** The limit with this name for this GPU: the user's, else the board's, else the general one; empty where there is none. */
    Optional<Limit> of(String name, GpuIdentity gpu);

    /** The limit with this name for the node. */
    Optional<Limit> of(String name);

    /** Knows no limit. */
    Limits NONE = new NoLimits();

    /**
     * @param value in the unit that the name ends with, for example `temperature_margin_celsius`
     * @param source where it comes from: the file and line, a datasheet, a header
     */
    record Limit(String name, double value, String source) {}
}
