/** The node's commands, and the layout of their output. */
package dev.gpuwarden.daemon.command;
