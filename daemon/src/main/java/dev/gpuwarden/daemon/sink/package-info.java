/** Local sinks of stored events: a file and a webhook. A forwarder sends each event until the sink acknowledges it. */
package dev.gpuwarden.daemon.sink;
