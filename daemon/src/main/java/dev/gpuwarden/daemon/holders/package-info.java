/** The pods that hold this node's GPUs, queried from the kubelet on request and not stored. */
package dev.gpuwarden.daemon.holders;
