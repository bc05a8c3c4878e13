/** Health events as they travel, and the faults that they leave: levels, not edges. */
package dev.gpuwarden.core.event;
