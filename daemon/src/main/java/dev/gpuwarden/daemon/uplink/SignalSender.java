package dev.gpuwarden.daemon.uplink;

import dev.gpuwarden.daemon.checkpoint.PodSignals;

/** Sends a signal to a pod. May block for a while, and is called by one thread after the other. */
public interface SignalSender {

    /** @param id of the request: another call with the same sends nothing and answers as before */
    PodSignals.Answer send(String id, String podUid, String signal);
}
