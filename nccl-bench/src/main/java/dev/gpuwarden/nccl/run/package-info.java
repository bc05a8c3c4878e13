/** The ranks of a run: threads that measure, and their supervision. */
package dev.gpuwarden.nccl.run;
