/** The edges of the VRAM watchdog: observations from the sampler, decisions to metrics and records, recycles of tenants. */
package dev.gpuwarden.daemon.vram;
