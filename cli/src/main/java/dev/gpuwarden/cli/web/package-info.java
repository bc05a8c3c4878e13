/** The HTTP server, and what a part that wants to be seen over it implements. */
package dev.gpuwarden.cli.web;
