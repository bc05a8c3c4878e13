/** Checks of what the operating system tells without the driver: network ports, PCIe errors, what the user pinned. */
package dev.gpuwarden.daemon.check.host;
