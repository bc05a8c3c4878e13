/** NVIDIA's CUDA driver library as an implementation of the port: contexts, copies and their rates. */
package dev.gpuwarden.nat.cuda;
