/** The operating system's data about this node: paths, PCI bus, processes. */
package dev.gpuwarden.checks.node;
