package dev.gpuwarden.watchdog.observation;

/**
 * The identity of a process. A number alone is given again to another process.
 *
 * @param startTicks field 22 of /proc/PID/stat
 */
public record ProcessKey(int pid, long startTicks) {}
