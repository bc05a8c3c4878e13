/** Work on GPUs in this process: libraries, each opened when a check first needs it, and the work that several threads share. */
package dev.gpuwarden.checks.compute;
