/** A real Kubernetes control plane, and real nodes where there is root: for this project's tests, and for anyone's own. */
package dev.gpuwarden.testkit.cluster;
