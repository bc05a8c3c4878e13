/** Simulated nodes: for this project's tests, for the demo, and for anyone's own programs. */
package dev.gpuwarden.testkit;
