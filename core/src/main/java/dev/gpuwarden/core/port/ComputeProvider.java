package dev.gpuwarden.core.port;

/**
 * A factory of compute drivers. Opening one takes no memory of a GPU. The code of a missing one is a CUresult (cuda.h).
 */
public interface ComputeProvider extends Provider<ComputeDriver, DriverOptions> {}
