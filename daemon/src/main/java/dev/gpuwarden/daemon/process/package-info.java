/** Whose memory: processes looked up in the node's /proc, and pods by the folders of their logs. */
package dev.gpuwarden.daemon.process;
