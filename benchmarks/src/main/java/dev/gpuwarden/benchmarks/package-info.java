/** Benchmarks of everything on a tick or a scrape; `benchmarks/README.md` has the commands and the figures. */
package dev.gpuwarden.benchmarks;
