/** The permission of checks to give work to GPUs: free GPUs, records on disk, and the end of work that must stop. */
package dev.gpuwarden.checks.access;
