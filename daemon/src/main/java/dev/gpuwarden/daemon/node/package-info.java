/** What the operating system says about this node: paths, PCI bus, processes. */
package dev.gpuwarden.daemon.node;
