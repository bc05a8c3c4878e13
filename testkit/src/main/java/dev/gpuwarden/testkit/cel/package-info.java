/** CEL expressions as strangers may write them. */
package dev.gpuwarden.testkit.cel;
