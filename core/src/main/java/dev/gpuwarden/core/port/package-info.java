/** The ports of gpuwarden; adapters in other modules implement them. */
package dev.gpuwarden.core.port;
