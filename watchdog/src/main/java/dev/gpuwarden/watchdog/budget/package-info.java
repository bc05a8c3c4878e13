/** Budgets: what a tenant was promised, and how processes become tenants. */
package dev.gpuwarden.watchdog.budget;
