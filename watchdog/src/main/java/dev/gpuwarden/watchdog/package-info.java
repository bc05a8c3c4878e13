/**
 * VRAM budgets: the decision which tenant of a GPU gives its memory back, and when. It reads no file, starts no thread
 * and has no clock: observations go in, decisions come out. So a decision can be repeated from its record.
 */
package dev.gpuwarden.watchdog;
