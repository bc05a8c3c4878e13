/** Checks of the operating system's data, without the driver: network ports, PCIe errors, the user's expectations. */
package dev.gpuwarden.checks.host;
