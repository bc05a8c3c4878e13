/** How things look in JSON and tables: shared by commands and page. */
package dev.gpuwarden.daemon.view;
