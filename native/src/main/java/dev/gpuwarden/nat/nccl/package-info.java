/** NVIDIA's library of collectives as an implementation of the port. */
package dev.gpuwarden.nat.nccl;
