/** Wire contracts between node, cluster and clients. Empty until health events are told over gRPC. */
package dev.gpuwarden.api;
