package dev.gpuwarden.daemon.process;

/**
 * A process in a container of a pod.
 *
 * @param startTicks since boot; with the pid what tells it from a later one of the same number
 * @param containerId 64 hexadecimal digits
 */
public record PodProcess(int pid, int parent, long startTicks, String containerId, String command) {}
