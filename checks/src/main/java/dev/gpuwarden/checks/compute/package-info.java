/** Work on GPUs in this process: the compute driver, opened when a check first needs it. */
package dev.gpuwarden.checks.compute;
