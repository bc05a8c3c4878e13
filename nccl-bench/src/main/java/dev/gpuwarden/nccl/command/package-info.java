/** The command `bench`. */
package dev.gpuwarden.nccl.command;
