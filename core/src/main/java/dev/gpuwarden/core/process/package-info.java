/** Who holds a GPU: processes, containers, pods and units. */
package dev.gpuwarden.core.process;
