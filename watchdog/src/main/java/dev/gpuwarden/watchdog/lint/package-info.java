/** Faults of workloads' budgets that their manifests show before anything runs. */
package dev.gpuwarden.watchdog.lint;
