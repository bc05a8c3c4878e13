/** The commands sim and demo. */
package dev.gpuwarden.testkit.command;
