/** What runs inside a test JVM: JUnit's launcher and the listener that writes what it hears. */
package dev.gpuwarden.runner.jvm;
