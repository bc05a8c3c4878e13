/** A real Kubernetes control plane on loopback: for this project's tests, and for anyone's own. */
package dev.gpuwarden.testkit.cluster;
