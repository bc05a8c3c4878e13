/** Budgets as limits that the driver itself holds control groups to (NVIDIA's driver R615 and later). */
package dev.gpuwarden.daemon.vram.limits;
