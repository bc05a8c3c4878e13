/** The kernel-log monitor: reads the log from any source, classifies its messages, and stores them as health events in batches. */
package dev.gpuwarden.daemon.kernlog;
