package dev.gpuwarden.core.check;

import dev.gpuwarden.core.model.GpuIdentity;
import java.util.Optional;

/** An empty set of limits. */
final class NoLimits implements Limits {

    @Override
    public Optional<Limit> of(String name, GpuIdentity gpu) {
        return Optional.empty();
    }

    @Override
    public Optional<Limit> of(String name) {
        return Optional.empty();
    }
}
