/** The owners of GPU memory: processes, containers, pods and units. */
package dev.gpuwarden.core.process;
