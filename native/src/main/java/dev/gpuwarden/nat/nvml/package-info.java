/** NVIDIA's management library: its functions and structures as data, a session with it, and what is read from it. */
package dev.gpuwarden.nat.nvml;
