/** What a simulated node is to be, as users write it: YAML in, checked values out. Touches no simulator. */
package dev.gpuwarden.testkit.scenario;
