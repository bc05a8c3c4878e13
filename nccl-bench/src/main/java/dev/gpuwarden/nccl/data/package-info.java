/** The data of the check: inputs with exact results, and the comparison. All of it is pure. */
package dev.gpuwarden.nccl.data;
