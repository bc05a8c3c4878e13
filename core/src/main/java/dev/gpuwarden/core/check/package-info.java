/** The contract of checks: they look and return findings, and write nothing. */
package dev.gpuwarden.core.check;
