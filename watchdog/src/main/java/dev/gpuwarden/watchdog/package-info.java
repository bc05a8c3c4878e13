/** VRAM budgets: who is over, what is done about it. Empty until budgets are built. */
package dev.gpuwarden.watchdog;
