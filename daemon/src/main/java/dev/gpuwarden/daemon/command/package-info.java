/** The node's commands: scan, doctor, daemon, and how what they show is laid out. */
package dev.gpuwarden.daemon.command;
