package dev.gpuwarden.watchdog.budget;

import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.process.MemoryUse;
import java.util.List;
import java.util.Optional;

/** A source of the terms of tenants. Thread-safe; never blocks. */
public interface TermsSource {

    /** Returns the terms of the tenant that the process belongs to; empty where this source is not responsible for it. */
    Optional<Terms> of(GpuIdentity gpu, MemoryUse process);

    /** Returns the tenants with a budget that may allocate on this GPU at any time, also those that hold nothing now. */
    List<Terms> expected(GpuIdentity gpu);
}
