/** The flight recorder: what the node saw around a fault. */
package dev.gpuwarden.daemon.recorder;
