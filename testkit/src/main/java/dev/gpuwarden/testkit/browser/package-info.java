/** A real browser, for tests of pages. */
package dev.gpuwarden.testkit.browser;
