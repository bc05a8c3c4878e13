package dev.gpuwarden.checks.telemetry;

import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.port.Driver;

/**
 * The driver and the GPU that a monitor stands for now. Compared by reference: a new binding, however equal, makes
 * workers open their samplers again, since an index means another GPU after the library was initialised again.
 */
record GpuBinding(Driver driver, GpuIdentity identity) {}
