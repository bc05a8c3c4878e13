/** What programs share that run until they are told to stop. */
package dev.gpuwarden.cli.run;
