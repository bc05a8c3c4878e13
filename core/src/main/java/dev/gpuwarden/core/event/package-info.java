/** Health events, and the faults that they raise and clear. Faults are levels, not edges. */
package dev.gpuwarden.core.event;
