/** Parts that long-running programs share: logging, closing, shutdown. */
package dev.gpuwarden.cli.run;
