/** Simulated nodes on disk: the simulator's table and the folders that stand for /proc, /sys and /var/log/pods. */
package dev.gpuwarden.testkit.sim;
