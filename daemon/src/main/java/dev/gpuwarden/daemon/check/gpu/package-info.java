/** Checks of GPUs and their driver. */
package dev.gpuwarden.daemon.check.gpu;
