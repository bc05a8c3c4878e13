/** The content of Node conditions and Events about faults, for every writer: names and forms of NVSentinel. Pure. */
package dev.gpuwarden.api.kube;
