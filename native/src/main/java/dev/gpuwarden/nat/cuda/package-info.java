/** NVIDIA's CUDA driver library as an implementation of the port: contexts, copies, and measurements by kernels. */
package dev.gpuwarden.nat.cuda;
