package dev.gpuwarden.api;

import com.google.protobuf.Timestamp;
import dev.gpuwarden.api.v1.Acknowledgement;
import dev.gpuwarden.api.v1.Advertise;
import dev.gpuwarden.api.v1.BudgetedPod;
import dev.gpuwarden.api.v1.BudgetedPods;
import dev.gpuwarden.api.v1.ContainerBudget;
import dev.gpuwarden.api.v1.Evict;
import dev.gpuwarden.api.v1.NodeReport;
import dev.gpuwarden.api.v1.OverBudget;
import dev.gpuwarden.api.v1.PodOverBudget;
import dev.gpuwarden.api.v1.Removal;
import dev.gpuwarden.api.v1.VramAnswer;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.regex.Pattern;

/** The codec of VRAM budgets, advertised values and evictions, between node and aggregator. */
public final class VramCodec {

    /** The priority from which pods belong to the system ({@code system-cluster-critical} of Kubernetes). */
    public static final int CRITICAL_PRIORITY = 2_000_000_000;

    /** The usual name of the extended resource. */
    public static final String RESOURCE = "gpuwarden.dev/vram-mib";

    /** The label of a pod that must never be recycled; its value is {@code off}. */
    public static final String OPT_OUT_LABEL = "gpuwarden.dev/vram-recycle";

    /** Limit on unanswered evictions of one stream. */
    public static final int MOST_OPEN = 4;

    /** Limit on the wait for the answer to an eviction. */
    public static final Duration PATIENCE = Duration.ofSeconds(15);

    /** Limit on pods of a list. A kubelet runs 110 by default. */
    public static final int MOST_PODS = 1024;

    public static final int PAGE_PODS = 128;
    public static final int MOST_CONTAINERS = 64;
    public static final int LONGEST_QUANTITY = 64;

    /** Limit on pods above their budgets in a report. */
    public static final int MOST_OVER_BUDGET = 64;

    private static final long MOST_MIB = 64L << 20;
    private static final int LONGEST_GRACE_SECONDS = 3600;
    private static final int LONGEST_TEXT_BYTES = 1024;
    private static final int LONGEST_CONTROLLER = 320;

    private static final Pattern DOMAIN = Pattern.compile("[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?");
    private static final Pattern LABEL = Pattern.compile("[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?");
    private static final Pattern LAST_PART = Pattern.compile("[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?");
    private static final Pattern UID = Pattern.compile("[-0-9A-Za-z]{1,64}");

    private VramCodec() {}

    /** Returns whether this can be the name of an extended resource: a domain that is not Kubernetes' own, and a name. */
    public static boolean isResource(String text) {
        int slash = text.indexOf('/');
        if (slash < 0) {
            return false;
        }
        String domain = text.substring(0, slash);
        return DOMAIN.matcher(domain).matches()
                && LAST_PART.matcher(text.substring(slash + 1)).matches()
                && !domain.equals("kubernetes.io")
                && !domain.endsWith(".kubernetes.io");
    }

    // ---- from the node ----

    /**
     * @param mib empty if the resource must be removed
     * @param largestCardMib part of the largest card; empty if one card has all of it
     */
    public static NodeReport advertise(String id, OptionalLong mib, OptionalLong largestCardMib) {
        Advertise.Builder advertise = Advertise.newBuilder().setId(id);
        mib.ifPresent(advertise::setMib);
        largestCardMib.ifPresent(advertise::setLargestCardMib);
        return NodeReport.newBuilder().setAdvertise(advertise).build();
    }

    /** Returns whether a message about VRAM is within its limits. */
    public static boolean isGood(NodeReport report) {
        return switch (report.getReportCase()) {
            case EVICT -> isGood(report.getEvict());
            case OVER_BUDGET -> isGood(report.getOverBudget());
            default -> isGood(report.getAdvertise());
        };
    }

    public static OverBudget overBudgetUnknown() {
        return OverBudget.getDefaultInstance();
    }

    /**
     * Returns the report with the largest amounts that find room.
     *
     * @param mib by UID of the pod, from 1
     */
    public static OverBudget overBudget(Map<String, Long> mib) {
        OverBudget.Builder report = OverBudget.newBuilder().setKnown(true);
        mib.entrySet().stream()
                .sorted(Map.Entry.<String, Long>comparingByValue().reversed().thenComparing(Map.Entry.comparingByKey()))
                .limit(MOST_OVER_BUDGET)
                .forEach(pod -> report.addPods(PodOverBudget.newBuilder()
                        .setPodUid(pod.getKey())
                        .setOverMib(Math.min(pod.getValue(), MOST_MIB))));
        return report.build();
    }

    private static boolean isGood(OverBudget report) {
        return report.getPodsCount() <= (report.getKnown() ? MOST_OVER_BUDGET : 0)
                && report.getPodsList().stream()
                        .allMatch(pod -> UID.matcher(pod.getPodUid()).matches()
                                && pod.getOverMib() >= 1
                                && pod.getOverMib() <= MOST_MIB);
    }

    /** Returns whether the message is within its limits. */
    public static boolean isGood(Advertise message) {
        return HoldingsCodec.isId(message.getId())
                && (!message.hasMib() || message.getMib() >= 1 && message.getMib() <= MOST_MIB)
                && (!message.hasLargestCardMib()
                        || message.getLargestCardMib() >= 1 && message.getLargestCardMib() <= message.getMib());
    }

    /** @param reason is truncated, and characters that control a terminal are replaced */
    public static NodeReport evict(
            String id, String uid, String namespace, String pod, String reason, Duration mostGrace, Removal removal) {
        long seconds = Math.max(1, Math.min(LONGEST_GRACE_SECONDS, mostGrace.toSeconds()));
        return NodeReport.newBuilder()
                .setEvict(Evict.newBuilder()
                        .setId(id)
                        .setPodUid(uid)
                        .setNamespace(namespace)
                        .setPod(pod)
                        .setReason(shown(reason))
                        .setMostGraceSeconds((int) seconds)
                        .setRemoval(removal))
                .build();
    }

    /** Returns whether the message is within its limits. */
    public static boolean isGood(Evict message) {
        return HoldingsCodec.isId(message.getId())
                && isPod(message.getPodUid(), message.getNamespace(), message.getPod())
                && Utf8.length(message.getReason()) <= LONGEST_TEXT_BYTES
                && message.getMostGraceSeconds() >= 1
                && message.getMostGraceSeconds() <= LONGEST_GRACE_SECONDS;
    }

    /** Returns the reason, safe to display. */
    public static String reason(Evict message) {
        return shown(message.getReason());
    }

    /** Returns the text within its limit. A replaced character can be longer than the one before. */
    private static String shown(String text) {
        return Utf8.head(Utf8.shown(text, LONGEST_TEXT_BYTES), LONGEST_TEXT_BYTES);
    }

    private static boolean isPod(String uid, String namespace, String name) {
        return UID.matcher(uid).matches()
                && LABEL.matcher(namespace).matches()
                && DOMAIN.matcher(name).matches();
    }

    // ---- from the aggregator ----

    /** Returns the time at which the kubelet accepted the pod; {@link Instant#EPOCH} where it is unknown. */
    public static Instant started(BudgetedPod pod) {
        return pod.hasStarted() ? Timestamps.parse(pod.getStarted()).orElse(Instant.EPOCH) : Instant.EPOCH;
    }

    public static Timestamp started(Instant time) {
        return Timestamps.toWire(time);
    }

    /** @param text is truncated, and characters that control a terminal are replaced */
    public static Acknowledgement answer(String id, boolean accepted, String text) {
        return answer(VramAnswer.newBuilder().setId(id).setAccepted(accepted).setText(shown(text)));
    }

    /**
     * Returns the answer to a request that was refused before an attempt.
     *
     * @param why is truncated, and characters that control a terminal are replaced
     */
    public static Acknowledgement refused(String id, String why) {
        return answer(VramAnswer.newBuilder().setId(id).setUntried(true).setText(shown(why)));
    }

    private static Acknowledgement answer(VramAnswer.Builder answer) {
        return Acknowledgement.newBuilder().setVramAnswer(answer).build();
    }

    /** Returns the text for an operator, safe to display. */
    public static String text(VramAnswer answer) {
        return shown(answer.getText());
    }

    /** Returns the pages of a list. There is at least one page, which may be empty. */
    public static List<Acknowledgement> pages(long list, List<BudgetedPod> pods) {
        List<Acknowledgement> pages = new ArrayList<>();
        List<BudgetedPod> listed = pods.subList(0, Math.min(pods.size(), MOST_PODS));
        int from = 0;
        do {
            int to = Math.min(listed.size(), from + PAGE_PODS);
            BudgetedPods.Builder page = BudgetedPods.newBuilder().setList(list).addAllPods(listed.subList(from, to));
            page.setLast(to == listed.size()).setUnlisted(pods.size() - listed.size());
            pages.add(Acknowledgement.newBuilder().setBudgetedPods(page).build());
            from = to;
        } while (from < listed.size());
        return pages;
    }

    /** Returns a list that states why the budgets are unknown. */
    public static Acknowledgement unknown(long list, String why) {
        return Acknowledgement.newBuilder()
                .setBudgetedPods(BudgetedPods.newBuilder()
                        .setList(list)
                        .setError(shown(why))
                        .setLast(true))
                .build();
    }

    /** Returns the reason why the budgets are unknown, safe to display; empty where they are known. */
    public static String error(BudgetedPods page) {
        return shown(page.getError());
    }

    /** Returns whether a page, and each of its pods, is within its limits. */
    public static boolean isGood(BudgetedPods page) {
        return page.getPodsCount() <= PAGE_PODS
                && page.getUnlisted() >= 0
                && page.getPodsList().stream().allMatch(VramCodec::isGood);
    }

    private static boolean isGood(BudgetedPod pod) {
        return isPod(pod.getUid(), pod.getNamespace(), pod.getName())
                && pod.getController().length() <= LONGEST_CONTROLLER
                && pod.getController().chars().allMatch(c -> c > ' ' && c <= '~')
                && pod.getOverhead().length() <= LONGEST_QUANTITY
                && pod.getContainersCount() <= MOST_CONTAINERS
                && pod.getContainersList().stream().allMatch(VramCodec::isGood)
                && (!pod.hasStarted() || Timestamps.parse(pod.getStarted()).isPresent());
    }

    private static boolean isGood(ContainerBudget container) {
        return container.getQuantity().length() <= LONGEST_QUANTITY
                && LABEL.matcher(container.getName()).matches();
    }
}
