package dev.gpuwarden.daemon.vram.kube;

import dev.gpuwarden.api.VramCodec;
import dev.gpuwarden.api.v1.Acknowledgement;
import dev.gpuwarden.api.v1.BudgetedPod;
import dev.gpuwarden.api.v1.BudgetedPods;
import dev.gpuwarden.api.v1.Hello;
import dev.gpuwarden.api.v1.NodeReport;
import dev.gpuwarden.api.v1.OverBudget;
import dev.gpuwarden.api.v1.Removal;
import dev.gpuwarden.api.v1.VramAnswer;
import dev.gpuwarden.api.v1.Welcome;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.util.Wakeup;
import dev.gpuwarden.daemon.uplink.request.AggregatorRequests;
import dev.gpuwarden.daemon.vram.action.Actuator;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;

/**
 * VRAM budgets over the stream on which the node reports: the pods of this node with a budget come from the aggregator,
 * which has the right to read them. The value to advertise and requests to end pods go to it. The last list of pods
 * stays while there is no connection. Thread-safe.
 */
public final class VramRequests extends AggregatorRequests<VramRequests.Answer> implements PodControl {

    private static final System.Logger LOG = System.getLogger(VramRequests.class.getName());

    private final String resource;
    private Optional<OptionalLong> advertised = Optional.empty();
    private OptionalLong largestCard = OptionalLong.empty();
    private Optional<OverBudget> overBudget = Optional.empty();
    private String advertisedId = "";
    /** The outcome of the value that was set last; guarded by this. */
    Answer advertising = new Answer(false, "nothing is advertised yet");

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
        super(VramCodec.MOST_OPEN, VramCodec.PATIENCE, "too many requests to the aggregator have no answer yet");
        this.resource = resource;
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
        if (closed().isEmpty()) {
            overBudget.ifPresent(report -> replace(
                    NodeReport::hasOverBudget,
                    NodeReport.newBuilder().setOverBudget(report).build()));
        }
    }

    /** Requests the end of a pod. The future is completed within {@link VramCodec#PATIENCE}. Does not block. */
    public CompletableFuture<Answer> evict(BudgetedPod pod, String reason, Duration mostGrace, Removal removal) {
        return send(
                "evict-",
                id -> VramCodec.evict(id, pod.getUid(), pod.getNamespace(), pod.getName(), reason, mostGrace, removal));
    }

    @Override
    protected Answer unanswered(boolean begun, String why) {
        return new Answer(false, begun, why);
    }

    // ---- for the session, in its thread ----

    @Override
    public void greet(Hello.Builder hello) {
        hello.setVramResource(resource);
    }

    @Override
    public synchronized void welcome(Welcome welcome, Wakeup session) {
        super.welcome(welcome, session);
        sendAdvertised();
        sendOverBudget();
    }

    @Override
    protected String opened(Welcome welcome) {
        pages.clear();
        list = 0;
        String offered = welcome.getVramResource();
        if (resource.isEmpty()) {
            return AWAY;
        }
        if (offered.equals(resource)) {
            return "";
        }
        String why = offered.isEmpty()
                ? "the aggregator sends no VRAM budgets: its version has none, or its --vram.evictions is off"
                : "the aggregator's --vram.resource is '" + offered + "', and this node's is '" + resource + "'";
        pods = Reading.absent(Absence.NOT_SUPPORTED, 0, why);
        LOG.log(Level.WARNING, why + "; pods have no budget on this node");
        return why;
    }

    private void sendAdvertised() {
        if (closed().isEmpty() && advertised.isPresent()) {
            advertisedId = newId("advertise-");
            replace(NodeReport::hasAdvertise, VramCodec.advertise(advertisedId, advertised.get(), largestCard));
        }
    }

    @Override
    public boolean received(Acknowledgement message) {
        if (message.hasBudgetedPods()) {
            received(message.getBudgetedPods());
        } else if (message.hasVramAnswer()) {
            received(message.getVramAnswer());
        }
        return message.hasBudgetedPods() || message.hasVramAnswer();
    }

    /** Receives a page; a complete list replaces the one before. */
    private synchronized void received(BudgetedPods page) {
        if (!closed().isEmpty()) {
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
            pods = Reading.of(new Pods(byUid));
        }
    }

    private void received(VramAnswer said) {
        Answer answer = new Answer(said.getAccepted(), !said.getUntried(), VramCodec.text(said));
        synchronized (this) {
            if (said.getId().equals(advertisedId)) {
                log(answer);
                advertising = answer;
            }
        }
        answered(said.getId(), answer);
    }

    private void log(Answer answer) {
        if (!answer.equals(advertising)) {
            LOG.log(
                    answer.accepted() ? Level.INFO : Level.WARNING,
                    resource + (answer.accepted() ? ": " : " is not advertised: ") + answer.text());
        }
    }
}
