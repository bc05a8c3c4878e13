package dev.gpuwarden.aggregator.ingest;

import dev.gpuwarden.api.v1.Acknowledgement;
import java.util.List;

/** The way to a node that reports here. Thread-safe; no method blocks. */
public interface NodeLink {

    /** Sends an answer, unless the stream is over. */
    void answer(Acknowledgement message);

    /** Sends all of the messages. Returns false, and sends none, while the node does not read fast enough or is away. */
    boolean send(List<Acknowledgement> messages);
}
