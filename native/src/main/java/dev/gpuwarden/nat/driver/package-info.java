/** NVIDIA's driver behind the port: puts session, readers and samplers together. */
package dev.gpuwarden.nat.driver;
