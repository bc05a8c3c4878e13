/** Simulated nodes for tests, for the demos and for other programs; helpers of tests. */
package dev.gpuwarden.testkit;
