/** Container engines of this node, by the API of their Unix sockets: Docker's, which Podman serves too. */
package dev.gpuwarden.daemon.vram.engine;
