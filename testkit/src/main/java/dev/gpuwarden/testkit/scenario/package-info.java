/** Scenarios: reads YAML descriptions of simulated nodes into checked values. Independent of the simulator. */
package dev.gpuwarden.testkit.scenario;
