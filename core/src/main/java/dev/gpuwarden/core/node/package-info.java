/** The whole node at one moment. */
package dev.gpuwarden.core.node;
