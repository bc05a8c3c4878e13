/** Events on their way to whoever keeps them elsewhere: stored first, sent until they are acknowledged. */
package dev.gpuwarden.daemon.uplink;
