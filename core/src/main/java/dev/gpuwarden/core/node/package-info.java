/** The node as a whole at one moment. */
package dev.gpuwarden.core.node;
