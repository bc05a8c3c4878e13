/** NVIDIA's management library: its functions and structures as data, a session, and readers. */
package dev.gpuwarden.nat.nvml;
