/** Tells the containers of a pod, by a signal, that their end is near. */
package dev.gpuwarden.daemon.checkpoint;
