package dev.gpuwarden.daemon.vram.budgets;

import dev.gpuwarden.core.process.Owner;
import java.util.Optional;

/** Names of containers by their ID. Thread-safe; never blocks. */
@FunctionalInterface
public interface ContainerNames {

    /** Returns its name; empty while it is unknown. */
    Optional<String> name(Owner.Container container);
}
