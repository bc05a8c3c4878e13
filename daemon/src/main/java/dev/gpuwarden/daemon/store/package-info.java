/**
 * The node's event store: what was found, what is wrong now, how far sources were read, and what receivers still lack, in one
 * SQLite file.
 */
package dev.gpuwarden.daemon.store;
