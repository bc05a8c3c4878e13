/** The domain: imports the JDK and nothing else. */
package dev.gpuwarden.core;
