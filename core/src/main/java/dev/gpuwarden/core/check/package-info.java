/** The contract of checks: they read and return findings, and write nothing. */
package dev.gpuwarden.core.check;
