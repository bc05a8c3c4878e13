/** Basic values: addresses, identities, readings and the causes of their absence. */
package dev.gpuwarden.core.model;
