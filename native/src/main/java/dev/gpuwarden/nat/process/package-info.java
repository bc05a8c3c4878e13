/** Calls for other processes that Java lacks. */
package dev.gpuwarden.nat.process;
