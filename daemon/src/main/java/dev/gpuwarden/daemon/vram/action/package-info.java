/** Ways to make a tenant of this node give its memory back. */
package dev.gpuwarden.daemon.vram.action;
