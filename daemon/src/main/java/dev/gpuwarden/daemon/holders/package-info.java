/** Which pods were given this node's GPUs: asked of the kubelet whenever somebody wants to know, and never kept. */
package dev.gpuwarden.daemon.holders;
