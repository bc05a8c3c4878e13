/** What gpuwarden needs from outside; adapters in other modules implement it. */
package dev.gpuwarden.core.port;
