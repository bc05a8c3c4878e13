/**
 * The wire contracts between node, cluster and clients: codecs between generated messages and core, and rules for
 * untrusted input.
 */
package dev.gpuwarden.api;
