/** The form of GPUs, owners, faults and reports in JSON, tables and HTML, shared by commands and page. */
package dev.gpuwarden.daemon.view;
