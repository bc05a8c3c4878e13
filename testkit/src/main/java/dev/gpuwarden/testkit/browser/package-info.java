/** Tests of pages in a real browser. */
package dev.gpuwarden.testkit.browser;
