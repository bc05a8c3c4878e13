/** The HTTP server and the interface of its handlers. */
package dev.gpuwarden.cli.web;
