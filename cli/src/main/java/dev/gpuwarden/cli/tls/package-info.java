/** Certificates in PEM, and those of servers, whose files may change. */
package dev.gpuwarden.cli.tls;
