/** Files that outlive their program: logs that are appended to, and files that are replaced as a whole. */
package dev.gpuwarden.cli.file;
