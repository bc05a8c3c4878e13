/** The node over gRPC: what others report and ask, who may, and how much of it at once. */
package dev.gpuwarden.daemon.grpc;
