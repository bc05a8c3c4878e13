/** Certificates of servers, from files that may change. */
package dev.gpuwarden.cli.tls;
