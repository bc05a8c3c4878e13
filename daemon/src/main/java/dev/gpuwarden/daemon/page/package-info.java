/** The page for people: static files, and the JSON that they ask for. */
package dev.gpuwarden.daemon.page;
