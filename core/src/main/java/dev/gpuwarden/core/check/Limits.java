package dev.gpuwarden.core.check;

import dev.gpuwarden.core.model.GpuIdentity;
import java.util.Optional;

/** The limits that checks compare with. */
public interface Limits {

    /** Returns the limit for this GPU: the user's, else the board's, else the general one; empty where there is none. */
    Optional<Limit> of(String name, GpuIdentity gpu);

    /** Returns the limit for the node; empty where there is none. */
    Optional<Limit> of(String name);

    /** No limits. */
    Limits NONE = new Limits() {
        @Override
        public Optional<Limit> of(String name, GpuIdentity gpu) {
            return Optional.empty();
        }

        @Override
        public Optional<Limit> of(String name) {
            return Optional.empty();
        }
    };

    /**
     * A limit.
     *
     * @param value in the unit at the end of the name, for example `temperature_margin_celsius`
     * @param source origin of the value: file and line, a datasheet, a header
     */
    record Limit(String name, double value, String source) {}
}
