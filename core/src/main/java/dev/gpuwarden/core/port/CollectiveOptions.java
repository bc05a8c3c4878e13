package dev.gpuwarden.core.port;

import java.util.List;

/**
 * Options for opening the library of collectives.
 *
 * @param libraryPaths files or folders of the library that are searched before the loader's own search; usually empty
 * @param driver options for the driver of the GPUs
 */
public record CollectiveOptions(List<String> libraryPaths, DriverOptions driver) {}
