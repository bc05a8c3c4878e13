/** The program of a test JVM: JUnit's launcher, the listener that records the results, and what it exchanges with the runner. */
package dev.gpuwarden.runner.jvm;
