/** What Java cannot do with other processes. */
package dev.gpuwarden.nat.process;
