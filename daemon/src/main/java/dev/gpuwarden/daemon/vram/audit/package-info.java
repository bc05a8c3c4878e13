/** Budgets compared with measured use. */
package dev.gpuwarden.daemon.vram.audit;
