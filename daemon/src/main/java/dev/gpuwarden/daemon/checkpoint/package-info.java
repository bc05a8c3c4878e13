/** Sends signals to the containers of a pod before their end. */
package dev.gpuwarden.daemon.checkpoint;
