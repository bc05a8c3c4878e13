package dev.gpuwarden.daemon.vram.kube;

import dev.gpuwarden.api.VramCodec;
import dev.gpuwarden.api.v1.BudgetedPod;
import dev.gpuwarden.api.v1.BudgetedPods;
import dev.gpuwarden.api.v1.NodeReport;
import dev.gpuwarden.api.v1.OverBudget;
import dev.gpuwarden.api.v1.Removal;
import dev.gpuwarden.api.v1.VramAnswer;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.util.Wakeup;
import dev.gpuwarden.daemon.vram.action.Actuator;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * VRAM budgets over the stream on which the node reports: the pods of this node with a budget come from the aggregator,
 * which has the right to read them. The value to advertise and requests to end pods go to it. The last list of pods
 * stays while there is no connection. No future is completed under the lock. Thread-safe.
 */
public final class VramRequests implements PodControl {

    private static final System.Logger LOG = System.getLogger(VramRequests.class.getName());

    private static final String AWAY = "the node has no connection to its aggregator";

    private final String resource;
    private final Map<String, CompletableFuture<Answer>> open = new HashMap<>();
    private final Queue<NodeReport> unsent = new ArrayDeque<>();
    private Optional<Wakeup> wakeup = Optional.empty();
    /** Why the aggregator takes nothing; empty while it does. */
    private String closed = AWAY;

    private long number;
    private Optional<OptionalLong> advertised = Optional.empty();
    private OptionalLong largestCard = OptionalLong.empty();
    private Optional<OverBudget> overBudget = Optional.empty();
    private String advertisedId = "";
    private Answer advertising = new Answer(false, "nothing is advertised yet");
    private final List<BudgetedPod> pages = new ArrayList<>();
    private long list;
    private volatile Reading<Pods> pods =
            Reading.absent(Absence.PENDING, 0, "the aggregator has not sent the budgets of this node's pods");

    /**
     * The aggregator's answer.
     *
     * @param begun whether something was done, or may have been
     * @param text for an operator, safe to display
     */
    public record Answer(boolean accepted, boolean begun, String text) {

        Answer(boolean accepted, String text) {
            this(accepted, true, text);
        }
    }

    /** @param resource extended resource in which pods state their budgets; empty if this node requests none */
    public VramRequests(String resource) {
        this.resource = resource;
    }

    /** Returns the name of the extended resource; empty if this node requests none. */
    public String resource() {
        return resource;
    }

    // ---- for the watchdog ----

    @Override
    public Reading<Pods> pods() {
        return pods;
    }

    /** Sends nothing if both are the same as before. */
    @Override
    public synchronized void advertise(OptionalLong mib, OptionalLong ofLargestCard) {
        if (!advertised.equals(Optional.of(mib)) || !largestCard.equals(ofLargestCard)) {
            advertised = Optional.of(mib);
            largestCard = ofLargestCard;
            advertising = new Answer(false, "the aggregator has not answered yet");
            sendAdvertised();
        }
    }

    @Override
    public Actuator eviction(PodTerms terms, Duration mostGrace) {
        return new EvictActuator(this, terms, mostGrace);
    }

    /** Sends nothing if they are the same as before. */
    @Override
    public synchronized void overBudget(OverBudget report) {
        if (!overBudget.equals(Optional.of(report))) {
            overBudget = Optional.of(report);
            sendOverBudget();
        }
    }

    private void sendOverBudget() {
        if (closed.isEmpty() && overBudget.isPresent()) {
            unsent.removeIf(NodeReport::hasOverBudget);
            unsent.add(NodeReport.newBuilder().setOverBudget(overBudget.get()).build());
            wakeup.ifPresent(Wakeup::signal);
        }
    }

    /** Returns the outcome of the value that was set last. */
    public synchronized Answer advertised() {
        return closed.isEmpty() || advertising.accepted() ? advertising : new Answer(false, closed);
    }

    /** Requests the end of a pod. The future is completed within {@link VramCodec#PATIENCE}. Does not block. */
    public CompletableFuture<Answer> evict(BudgetedPod pod, String reason, Duration mostGrace, Removal removal) {
        CompletableFuture<Answer> answer = new CompletableFuture<>();
        String refused = add(pod, reason, mostGrace, removal, answer);
        return refused.isEmpty() ? answer : CompletableFuture.completedFuture(new Answer(false, false, refused));
    }

    /** Returns why the request is not sent; empty if it was added. */
    private synchronized String add(
            BudgetedPod pod, String reason, Duration mostGrace, Removal removal, CompletableFuture<Answer> answer) {
        if (!closed.isEmpty()) {
            return closed;
        }
        if (open.size() >= VramCodec.MOST_OPEN) {
            return "too many requests to the aggregator have no answer yet";
        }
        String id = "evict-" + ++number;
        open.put(id, answer);
        unsent.add(VramCodec.evict(id, pod.getUid(), pod.getNamespace(), pod.getName(), reason, mostGrace, removal));
        wakeup.ifPresent(Wakeup::signal);
        var unused = answer.completeOnTimeout(
                        new Answer(false, "the aggregator has not answered in time"),
                        VramCodec.PATIENCE.toMillis(),
                        TimeUnit.MILLISECONDS)
                .whenComplete((done, failure) -> forget(id));
        return "";
    }

    private synchronized void forget(String id) {
        open.remove(id);
        // An unsent request without a caller is not sent.
        unsent.removeIf(report -> report.getEvict().getId().equals(id));
    }

    // ---- for the session, in its thread ----

    /** @param offered resource for which this aggregator sends budgets; empty if it sends none */
    public synchronized void welcome(String offered, Wakeup session) {
        wakeup = Optional.of(session);
        pages.clear();
        list = 0;
        if (resource.isEmpty()) {
            return;
        }
        if (offered.equals(resource)) {
            closed = "";
            sendAdvertised();
            sendOverBudget();
            return;
        }
        closed = offered.isEmpty()
                ? "the aggregator sends no VRAM budgets: its version has none, or its --vram.evictions is off"
                : "the aggregator's --vram.resource is '" + offered + "', and this node's is '" + resource + "'";
        pods = Reading.absent(Absence.NOT_SUPPORTED, 0, closed);
        LOG.log(Level.WARNING, closed + "; pods have no budget on this node");
    }

    private void sendAdvertised() {
        if (closed.isEmpty() && advertised.isPresent()) {
            advertisedId = "advertise-" + ++number;
            unsent.removeIf(NodeReport::hasAdvertise);
            unsent.add(VramCodec.advertise(advertisedId, advertised.get(), largestCard));
            wakeup.ifPresent(Wakeup::signal);
        }
    }

    /** Returns the next unsent message and removes it. */
    public synchronized Optional<NodeReport> next() {
        return Optional.ofNullable(unsent.poll());
    }

    /** Receives a page; a complete list replaces the one before. */
    public synchronized void received(BudgetedPods page) {
        if (!closed.isEmpty()) {
            return;
        }
        if (page.getList() != list) {
            pages.clear();
            list = page.getList();
        }
        boolean fits = VramCodec.isGood(page) && pages.size() + page.getPodsCount() <= VramCodec.MOST_PODS;
        if (!fits || !page.getError().isEmpty()) {
            pages.clear();
            list = 0;
            String why =
                    fits ? VramCodec.error(page) : "the aggregator's list of pods exceeds the limits of uplink.proto";
            pods = Reading.absent(Absence.FAILED, 0, why);
            return;
        }
        pages.addAll(page.getPodsList());
        if (page.getLast()) {
            Map<String, BudgetedPod> byUid = new HashMap<>();
            pages.forEach(pod -> byUid.put(pod.getUid(), pod));
            pages.clear();
            pods = Reading.of(new Pods(byUid, page.getUnlisted()));
        }
    }

    /** Completes the open request; ignores an answer to any other. */
    public void received(VramAnswer said) {
        Answer answer = new Answer(said.getAccepted(), !said.getUntried(), VramCodec.text(said));
        Optional<CompletableFuture<Answer>> waits;
        synchronized (this) {
            if (said.getId().equals(advertisedId)) {
                log(answer);
                advertising = answer;
            }
            waits = Optional.ofNullable(open.get(said.getId()));
        }
        waits.ifPresent(future -> future.complete(answer));
    }

    private void log(Answer answer) {
        if (!answer.equals(advertising)) {
            LOG.log(
                    answer.accepted() ? Level.INFO : Level.WARNING,
                    resource + (answer.accepted() ? ": " : " is not advertised: ") + answer.text());
        }
    }

    /** Ends the connection and all open requests. */
    public void end() {
        List<CompletableFuture<Answer>> left;
        synchronized (this) {
            closed = AWAY;
            left = new ArrayList<>(open.values());
            unsent.clear();
        }
        left.forEach(answer -> answer.complete(new Answer(false, AWAY)));
    }
}
