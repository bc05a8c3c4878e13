/** A real Kubernetes control plane, and with root real nodes, for tests of this project and of others. */
package dev.gpuwarden.testkit.cluster;
