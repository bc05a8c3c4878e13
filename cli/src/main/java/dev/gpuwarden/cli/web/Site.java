package dev.gpuwarden.cli.web;

import java.util.Optional;

/** A part of what the server serves. Thread-safe: requests come at the same time, each on its own thread. */
public interface Site {

    /**
     * Empty when the path is not of this part. May wait for some seconds, since every request has its own thread, and must
     * end when that thread is interrupted. What it throws becomes a 500 without particulars.
     */
    Optional<Answer> answer(Request request) throws InterruptedException;
}
