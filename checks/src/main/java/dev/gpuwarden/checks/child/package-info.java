/** Child processes: their start, their end in time, their output, and the trust in the file of a program. */
package dev.gpuwarden.checks.child;
