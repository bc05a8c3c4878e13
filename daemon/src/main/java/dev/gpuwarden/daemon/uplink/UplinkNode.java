package dev.gpuwarden.daemon.uplink;

import dev.gpuwarden.core.event.EventBook;
import dev.gpuwarden.core.event.Outbox;
import java.time.Clock;

/** Who reports, and of what. */
public record UplinkNode(String name, String bootId, String version, EventBook book, Outbox outbox, Clock clock) {}
