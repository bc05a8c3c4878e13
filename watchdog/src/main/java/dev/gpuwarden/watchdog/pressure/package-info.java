/** The state of a GPU that makes recycling permissible: too little free memory for what is guaranteed. */
package dev.gpuwarden.watchdog.pressure;
