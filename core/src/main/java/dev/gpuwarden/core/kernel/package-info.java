/** The parser for the kernel log: records, their messages about GPUs and links, and the catalogues that explain them. */
package dev.gpuwarden.core.kernel;
