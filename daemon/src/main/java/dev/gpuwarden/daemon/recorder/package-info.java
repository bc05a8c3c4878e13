/** The flight recorder: the node's readings and kernel lines around a fault. */
package dev.gpuwarden.daemon.recorder;
