package dev.gpuwarden.daemon.vram.reserve;

import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.watchdog.observation.GpuObservation;
import dev.gpuwarden.watchdog.observation.Tenant;
import java.util.List;

/** A GPU and its last observation. */
record Card(GpuIdentity identity, GpuObservation seen) {

    String selector() {
        return identity.selector();
    }

    boolean isPartitioned() {
        return !identity.mig().isEmpty();
    }

    boolean isNamed(String name) {
        return identity.isNamed(name);
    }

    /** Returns what an empty card has without the driver's part; 0 where that is unknown. */
    long mostBytes() {
        return seen.memory()
                .asOptional()
                .map(memory -> memory.total() - memory.reserved())
                .orElse(0L);
    }

    long totalBytes() {
        return seen.memory().asOptional().map(memory -> memory.total()).orElse(0L);
    }

    List<Tenant> tenants() {
        return seen.tenants().asOptional().orElse(List.of());
    }
}
