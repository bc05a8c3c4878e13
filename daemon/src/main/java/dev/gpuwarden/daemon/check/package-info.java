/** Runs checks, and tells what follows from what they say. */
package dev.gpuwarden.daemon.check;
