/** The settings of checks: selection, intervals, limits, expectations. The daemon and the commands share them. */
package dev.gpuwarden.checks.settings;
