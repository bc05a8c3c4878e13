/** The plan of a run: collectives, sizes, operators and bandwidths. All of it is pure. */
package dev.gpuwarden.nccl.plan;
