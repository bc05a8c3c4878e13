package dev.gpuwarden.checks.process;

/**
 * A process in a container of a pod.
 *
 * @param startTicks start since boot in clock ticks; distinguishes the process from a later one with the same PID
 * @param containerId 64 hexadecimal digits
 */
public record PodProcess(int pid, int parent, long startTicks, String containerId, String command) {}
