/** The web page of the node: static files and their JSON. */
package dev.gpuwarden.daemon.page;
