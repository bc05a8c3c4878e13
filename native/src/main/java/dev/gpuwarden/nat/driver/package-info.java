/** NVIDIA's driver as an implementation of the port: session, readers and samplers together. */
package dev.gpuwarden.nat.driver;
