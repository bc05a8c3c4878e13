/** Parts that programs share: logging, closing, shutdown, another start of the same program. */
package dev.gpuwarden.cli.run;
