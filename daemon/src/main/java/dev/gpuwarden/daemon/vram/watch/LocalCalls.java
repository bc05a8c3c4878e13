package dev.gpuwarden.daemon.vram.watch;

import dev.gpuwarden.daemon.vram.notice.NoticeBoard;
import dev.gpuwarden.daemon.vram.reserve.ReservationDesk;

/** The parts of the watchdog that processes of this node call: to request memory, and to get notices that they hold too much. */
public record LocalCalls(ReservationDesk reservations, NoticeBoard notices) {}
