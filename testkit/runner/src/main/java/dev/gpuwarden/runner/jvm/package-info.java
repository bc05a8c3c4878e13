/** The program of a test JVM: JUnit's launcher and the listener that records the results. */
package dev.gpuwarden.runner.jvm;
