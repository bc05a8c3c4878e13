/** Compiles what was edited since the last build, and all that may depend on it. */
package dev.gpuwarden.runner.compile;
