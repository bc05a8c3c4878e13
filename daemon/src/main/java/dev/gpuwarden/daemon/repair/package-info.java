/** The repair of this server by its own daemon, where no aggregator repairs it: decision, steps, and the record of both. */
@NullMarked
package dev.gpuwarden.daemon.repair;

import org.jspecify.annotations.NullMarked;
