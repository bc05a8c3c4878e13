/** The watchdog at work: readings become observations, decisions become records, and recycles of tenants are carried out. */
package dev.gpuwarden.daemon.vram.watch;
