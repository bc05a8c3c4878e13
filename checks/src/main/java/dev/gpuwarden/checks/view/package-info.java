/** The form of checks, findings, events and single values in JSON and in tables. */
package dev.gpuwarden.checks.view;
