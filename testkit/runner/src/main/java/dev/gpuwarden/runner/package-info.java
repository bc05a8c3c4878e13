/** Runs the tests of all modules: lanes of test JVMs, the inner loop of one class, and the summary. */
package dev.gpuwarden.runner;
