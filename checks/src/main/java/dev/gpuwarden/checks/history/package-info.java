/** The last minutes of readings in rings of fixed size, the notes of a boot, and the rates of earlier measurements. */
package dev.gpuwarden.checks.history;
