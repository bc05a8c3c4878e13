package dev.gpuwarden.daemon.vram.budgets;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.process.Owner;

/** Names of containers by their ID. Thread-safe; never blocks. */
@FunctionalInterface
public interface ContainerNames {

    /**
     * Returns its name. Absent as {@link Absence#PENDING} while it is asked for, {@link Absence#FAILED} if its engine does not return it,
     * and {@link Absence#NO_DATA} if its engine has no such container.
     */
    Reading<String> name(Owner.Container container);
}
