/**
 * The node's event store: history, current faults, positions of sources and receivers' acknowledgements, in one
 * SQLite file.
 */
package dev.gpuwarden.daemon.store;
