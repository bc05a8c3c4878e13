/** Budgets from a file: for systemd units, containers, Slurm jobs and processes by name. */
package dev.gpuwarden.daemon.vram.budgets;
