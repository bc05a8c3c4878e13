/** Requests of processes for GPU memory before they allocate it. The rules are in {@link dev.gpuwarden.watchdog.reservation}. */
package dev.gpuwarden.daemon.vram.reserve;
