/** Shared libraries by path, their functions by address, and calls without a generated class per function. */
package dev.gpuwarden.nat.lib;
