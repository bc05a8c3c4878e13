/** Memory that tenants request before they allocate it: the room for it, and who gets it next. */
package dev.gpuwarden.watchdog.reservation;
