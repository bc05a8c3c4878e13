package dev.gpuwarden.aggregator.vram;

import dev.gpuwarden.aggregator.ingest.NodeLink;
import dev.gpuwarden.api.VramCodec;
import dev.gpuwarden.api.v1.Advertise;
import dev.gpuwarden.api.v1.BudgetedPod;
import dev.gpuwarden.api.v1.OverBudget;
import dev.gpuwarden.api.v1.PodOverBudget;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** A node that reports here and uses budgets: its last messages, and those that were sent to it. Thread-safe. */
final class JoinedNode implements AutoCloseable {

    private final String name;
    private final NodeLink link;
    private Optional<Advertise> wanted = Optional.empty();
    private Optional<Map<String, Long>> overBudget = Optional.empty();
    private boolean advertised;
    private String answeredId = "";
    private String answeredText = "";
    private Optional<PodWatch> watch = Optional.empty();
    private Optional<List<BudgetedPod>> sent = Optional.empty();
    private long sentNanos;
    private long list;
    private boolean closed;

    JoinedNode(String name, NodeLink link) {
        this.name = name;
        this.link = link;
    }

    String name() {
        return name;
    }

    NodeLink link() {
        return link;
    }

    // ---- the advertised value ----

    synchronized void wants(Advertise value) {
        wanted = Optional.of(value);
        advertised |= value.hasMib();
    }

    /** Returns true if the node has advertised an amount on this connection, so that a cache may be behind. */
    synchronized boolean hasAdvertised() {
        return advertised;
    }

    /** @param report a valid report of pods above their budgets */
    synchronized void reports(OverBudget report) {
        overBudget = report.getKnown()
                ? Optional.of(report.getPodsList().stream()
                        .collect(Collectors.toMap(
                                PodOverBudget::getPodUid, PodOverBudget::getOverMib, (first, second) -> first)))
                : Optional.empty();
    }

    /** Returns the MiB above their budgets by UID of the pod; empty if the node does not report them. */
    synchronized Optional<Map<String, Long>> overBudget() {
        return overBudget;
    }

    synchronized Optional<Advertise> wanted() {
        return wanted;
    }

    /** Answers a value, unless the node has this answer already. Returns true if the answer is new. */
    boolean answer(Advertise value, boolean accepted, String text) {
        synchronized (this) {
            if (answeredId.equals(value.getId()) && answeredText.equals(text)) {
                return false;
            }
            answeredId = value.getId();
            answeredText = text;
        }
        link.answer(VramCodec.answer(value.getId(), accepted, text));
        return true;
    }

    // ---- the budgets of its pods ----

    synchronized Optional<PodWatch> watch() {
        return watch;
    }

    /** Keeps a watch, which ends with this node. */
    void keep(PodWatch opened) {
        boolean late;
        synchronized (this) {
            late = closed;
            watch = late ? Optional.empty() : Optional.of(opened);
        }
        if (late) {
            opened.close();
        }
    }

    /** Returns the time since the last list; Long.MAX_VALUE if none was sent. */
    synchronized long sinceNanos(long now) {
        return sent.isEmpty() ? Long.MAX_VALUE : now - sentNanos;
    }

    /** The end of an attempt to send a list. */
    enum Sent {
        /** The node has this list. */
        SAME,
        SENT,
        /** The node does not read fast enough. */
        NOT_NOW
    }

    /** Sends a list if it differs from the last one. */
    synchronized Sent send(List<BudgetedPod> pods, long now) {
        if (sent.equals(Optional.of(pods))) {
            return Sent.SAME;
        }
        if (!link.send(VramCodec.pages(list + 1, pods))) {
            return Sent.NOT_NOW;
        }
        list++;
        sent = Optional.of(pods);
        sentNanos = now;
        return Sent.SENT;
    }

    /** States to the node that its pods' budgets are unknown. */
    synchronized void sendUnknown(String why) {
        sent = Optional.empty();
        link.answer(VramCodec.unknown(++list, why));
    }

    @Override
    public void close() {
        Optional<PodWatch> open;
        synchronized (this) {
            closed = true;
            open = watch;
            watch = Optional.empty();
        }
        open.ifPresent(PodWatch::close);
    }
}
