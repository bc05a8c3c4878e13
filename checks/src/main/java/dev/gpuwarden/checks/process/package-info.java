/** Attribution of GPU memory: processes from the node's /proc, and pods from the folders of their logs. */
package dev.gpuwarden.checks.process;
