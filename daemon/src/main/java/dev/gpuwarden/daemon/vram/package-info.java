/** The settings of the VRAM watchdog, which make its parts, and what its commands and the page show of it. */
package dev.gpuwarden.daemon.vram;
