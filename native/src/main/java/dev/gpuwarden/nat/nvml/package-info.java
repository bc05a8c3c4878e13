/** NVIDIA's management library: its functions and structures as data, a session with it, and the adapters behind the ports. */
package dev.gpuwarden.nat.nvml;
