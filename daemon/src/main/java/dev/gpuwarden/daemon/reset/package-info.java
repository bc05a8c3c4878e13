/** The reset of GPUs of this node by nvidia-smi. */
package dev.gpuwarden.daemon.reset;
