/** Wire contracts between node, cluster and clients: codecs between generated messages and core, and rules for what strangers send. */
package dev.gpuwarden.api;
