/** Writes this node's conditions, Events and labels to the Kubernetes API, if configured and without an aggregator. */
package dev.gpuwarden.daemon.kube;
