/** The users' own checks: scripts of checks.d, and files written for node-problem-detector. */
package dev.gpuwarden.checks.script;
