/** Child processes: their start, their end in time, their output, and whether the program of another owner may run. */
@NullMarked
package dev.gpuwarden.daemon.child;

import org.jspecify.annotations.NullMarked;
