/** Log files that are rotated while they are read: lines, positions in a file, and the files of one log in the order of writing. */
package dev.gpuwarden.daemon.kernlog.logfile;
