/**
 * The kernel-log monitor: reads the log from any source, classifies its messages, and stores them as health events in batches. A new
 * source implements {@link dev.gpuwarden.daemon.kernlog.LogSource} and is chosen in {@link
 * dev.gpuwarden.daemon.kernlog.SourceSelector}.
 */
package dev.gpuwarden.daemon.kernlog;
