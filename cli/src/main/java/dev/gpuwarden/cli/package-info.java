/** The command line: one main, output formats, exit codes, strict configuration. Knows no other module. */
package dev.gpuwarden.cli;
