/** The modules of this project and their folders; compiles the files that were edited since the last build, and all that may depend on them. */
package dev.gpuwarden.runner.compile;
