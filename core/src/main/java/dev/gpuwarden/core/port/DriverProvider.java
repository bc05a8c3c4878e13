package dev.gpuwarden.core.port;

/** A factory of drivers on the management library. The code of a missing one is an nvmlReturn (nvml.h). */
public interface DriverProvider extends Provider<Driver, DriverOptions> {}
