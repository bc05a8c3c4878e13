/** Random CEL expressions, for tests of limits. */
package dev.gpuwarden.testkit.cel;
