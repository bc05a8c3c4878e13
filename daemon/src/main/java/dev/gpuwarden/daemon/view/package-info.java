/** The forms of values in JSON and tables, shared by commands and page. */
package dev.gpuwarden.daemon.view;
