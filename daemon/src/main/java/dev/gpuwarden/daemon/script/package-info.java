/** Other people's checks: scripts of checks.d, and what was written for node-problem-detector. */
package dev.gpuwarden.daemon.script;
