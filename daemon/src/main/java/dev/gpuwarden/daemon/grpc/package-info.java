/** The node's gRPC services, their permissions and their limits. */
package dev.gpuwarden.daemon.grpc;
