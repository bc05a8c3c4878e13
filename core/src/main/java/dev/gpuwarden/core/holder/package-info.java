/** The allocation of GPUs to pods, as the kubelet reports it. */
package dev.gpuwarden.core.holder;
