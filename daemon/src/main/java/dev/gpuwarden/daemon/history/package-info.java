/** The readings of the last minutes, in rings of fixed size that the GPUs' own threads fill. */
package dev.gpuwarden.daemon.history;
