/** The node daemon. */
package dev.gpuwarden.daemon;
