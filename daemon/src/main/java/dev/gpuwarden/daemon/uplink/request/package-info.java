/** The mechanism of requests over the uplink, in both directions; each kind of request is a class on it. */
package dev.gpuwarden.daemon.uplink.request;
