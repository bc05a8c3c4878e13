/** Simulated nodes on disk: the simulator's table, and the folders in place of /proc, /sys and /var/log/pods. */
package dev.gpuwarden.testkit.sim;
