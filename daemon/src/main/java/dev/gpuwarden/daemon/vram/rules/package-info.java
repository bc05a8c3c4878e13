/** The watchdog's rules by name and text, for settings, replays and records. */
package dev.gpuwarden.daemon.vram.rules;
