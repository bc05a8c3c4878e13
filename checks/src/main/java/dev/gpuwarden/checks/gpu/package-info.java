/** Checks of GPUs and their driver. */
package dev.gpuwarden.checks.gpu;
