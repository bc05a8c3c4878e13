/** The node's event store: history, current faults, sources' positions and receivers' acknowledgements, in one SQLite file. */
package dev.gpuwarden.daemon.store;
