/** Shared libraries by path, their functions by address, and calls of them without a generated class per function. */
package dev.gpuwarden.nat.lib;
