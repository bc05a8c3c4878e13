/** The command line: one main, output formats, exit codes, strict configuration. It uses core alone. */
package dev.gpuwarden.cli;
