/** What the kernel log says about GPUs and their links: records, the signals in them, and the catalogues that explain those. */
package dev.gpuwarden.core.kernel;
