/** Writes this node's own conditions, Events and labels to the Kubernetes API, where told to and where no aggregator does. */
package dev.gpuwarden.daemon.kube;
