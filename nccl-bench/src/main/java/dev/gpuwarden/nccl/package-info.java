/** Collectives benchmark. Empty until NCCL is bound. */
package dev.gpuwarden.nccl;
