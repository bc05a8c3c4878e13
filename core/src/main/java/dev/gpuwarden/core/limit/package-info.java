/** How often something may happen that others ask for. */
package dev.gpuwarden.core.limit;
