package dev.gpuwarden.aggregator.drain;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.cache.NodeHealthCache;
import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.nodehealth.GpuHolderRequests;
import dev.gpuwarden.aggregator.nodehealth.GpuHolderRequests.LookupAnswer;
import dev.gpuwarden.aggregator.nodehealth.GpuHoldersJson.HoldingsReader;
import dev.gpuwarden.aggregator.pods.PodView;
import dev.gpuwarden.cli.Durations;
import dev.gpuwarden.core.holder.GpuHolders;
import dev.gpuwarden.core.util.Threads;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * The holders of GPUs by the node's daemon, which is asked only if the pods' status does not name them, or if pods leave for their
 * processes. The request is sent after the cordon, when no new pod comes. It is sent once for a drain, and again after a failure.
 * Thread-safe.
 */
public final class KubeletGpuHolders implements GpuHolderSource, AutoCloseable {

    private static final int TRIES = 2;

    /**
     * The pause before a node is asked again for a pod that came after its answer. The number of such requests is limited too.
     */
    private static final Duration PAUSE = Duration.ofSeconds(2);

    private static final int MOST_ARRIVALS = 5;

    /** The pause after an answer without room for all pods doubles with each, up to about four minutes. */
    private static final int MOST_DOUBLINGS = 7;

    /** The number of threads, each of which waits for one answer of the API server. */
    private static final int THREADS = 4;

    /**
     * A request to a node's daemon, and its state.
     *
     * @param since start of the drain that needs the holders
     * @param asked time of the request
     * @param tries number of requests, failed ones included
     * @param arrivals number of repeated requests for pods that came after an answer, or that an answer had no room for
     * @param id identifier of the request; empty until the API server has it
     * @param failed reason why the request failed; empty if it did not
     * @param missing reason why the answer before had no room for all pods; empty if it had
     */
    private record Question(
            Instant since,
            Instant asked,
            int tries,
            int arrivals,
            Optional<String> id,
            Optional<String> failed,
            Optional<String> missing) {

        Question answered(Optional<String> theId, Optional<String> why) {
            return new Question(since, asked, tries, arrivals, theId, why, missing);
        }

        /** Returns the time of the next request, if the answer to this one has no room for all pods. */
        Instant again() {
            return asked.plus(PAUSE.multipliedBy(1L << Math.min(arrivals, MOST_DOUBLINGS)));
        }
    }

    private final GpuHolderSource podStatus;
    private final GpuHolderRequests lookups;
    private final NodeHealthCache memory;
    private final Clock clock;
    private final Duration patience;
    private final boolean processes;
    private final Consumer<String> again;
    private final Map<String, Question> questions = new ConcurrentHashMap<>();
    private final ScheduledThreadPoolExecutor threads =
            new ScheduledThreadPoolExecutor(THREADS, Threads.daemon("gpuwarden-gpu-holders"));

    /**
     * @param podStatus source without requests, asked first
     * @param memory cache of the cluster, which reports new answers
     * @param patience limit for the answer of a daemon, which waits for its kubelet for two seconds at most, and reconnects
     *     after a lost connection
     * @param processes true to ask the daemon also for pods whose processes have a GPU open without a request
     * @param again adds a node to the work queue
     */
    public KubeletGpuHolders(
            GpuHolderSource podStatus,
            KubeClient api,
            NodeHealthCache memory,
            Clock clock,
            Duration patience,
            boolean processes,
            Consumer<String> again) {
        this.podStatus = podStatus;
        this.lookups = new GpuHolderRequests(api, memory, clock);
        this.memory = memory;
        this.clock = clock;
        this.patience = patience;
        this.processes = processes;
        this.again = again;
        memory.follow((node, health) -> {
            if (questions.containsKey(node)) {
                again.accept(node);
            }
        });
    }

    @Override
    public Answer holders(CachedNode node, Set<String> gpus, Collection<PodView> pods, Instant since) {
        Answer status = podStatus.holders(node, gpus, pods, since);
        if (!(status instanceof Answer.Unknown) && !processes) {
            questions.remove(node.name());
            return status;
        }
        Question question = questions.get(node.name());
        if (question == null || !question.since().equals(since)) {
            return ask(node.name(), since, 1, 0, Optional.empty());
        }
        if (question.failed().isPresent()) {
            return failed(node.name(), question, status, question.failed().get());
        }
        if (question.id().isEmpty()) {
            return pending(question, status);
        }
        LookupAnswer answer = HoldingsReader.read(
                memory.health(node.name()).orElse(Map.of()), question.id().get());
        if (answer instanceof LookupAnswer.Answered answered) {
            return status instanceof Answer.Known listed
                    ? withProcesses(node.name(), question, listed, answered.holders(), gpus, pods)
                    : settled(node.name(), question, answered.holders(), gpus, pods);
        }
        if (answer instanceof LookupAnswer.Failed why) {
            return failed(node.name(), question, status, why.why());
        }
        return clock.instant().isBefore(question.asked().plus(patience))
                ? pending(question, status)
                : without(
                        node.name(),
                        question,
                        status,
                        "its daemon has not answered within " + Durations.text(patience)
                                + " when asked which pods hold its GPUs");
    }

    /**
     * Returns the answer without a daemon. Pods that hold a GPU without a request are then found by its reset, unless an earlier
     * answer had no room for all of them.
     */
    private Answer without(String node, Question question, Answer status, String why) {
        if (status instanceof Answer.Known known && question.missing().isPresent()) {
            String missing = question.missing().get();
            return part(node, question, known.with(GpuProcesses.cut(Map.of(), missing)), missing);
        }
        return without(status, why);
    }

    static Answer without(Answer status, String why) {
        if (status instanceof Answer.Known known) {
            return known.with(GpuProcesses.unknown(why));
        }
        return new Answer.Unknown((status instanceof Answer.Unknown unknown ? unknown.why() + ", and " : "") + why);
    }

    /** Returns the state of a request without an answer. After several answers without room, the drain shows that reason. */
    private static Answer pending(Question question, Answer status) {
        return status instanceof Answer.Known known
                        && question.missing().isPresent()
                        && question.arrivals() >= MOST_ARRIVALS
                ? known.with(GpuProcesses.cut(Map.of(), question.missing().get()))
                : asks();
    }

    /** Returns the pods that are known. When none of them is left, the next answer has room for others. */
    private Answer part(String node, Question question, Answer.Known known, String missing) {
        Instant now = clock.instant();
        if (now.isBefore(question.again())) {
            retryAfter(node, Duration.between(now, question.again()));
        } else {
            var unused = ask(node, question.since(), 1, question.arrivals() + 1, Optional.of(missing));
        }
        return question.arrivals() < MOST_ARRIVALS ? new Answer.Asked(missing) : known;
    }

    private Answer withProcesses(
            String node,
            Question question,
            Answer.Known known,
            GpuHolders holders,
            Set<String> gpus,
            Collection<PodView> pods) {
        if (!processes) {
            return known;
        }
        Map<String, Set<String>> byPod = new TreeMap<>();
        for (String gpu : gpus) {
            for (GpuHolders.Pod pod : holders.podsWithProcesses(gpu)) {
                if (!known.holders().getOrDefault(pod.toString(), Set.of()).contains(gpu)) {
                    byPod.computeIfAbsent(pod.toString(), any -> new TreeSet<>())
                            .add(gpu);
                }
            }
        }
        if (holders.listsAllProcesses()) {
            return known.with(new GpuProcesses(byPod, holders.unsearched(), false));
        }
        String missing = "its daemon has no room for all pods whose processes have a GPU open:"
                + " NodeHealth status.holdings lists " + holders.processes().size() + ", and "
                + (holders.unlistedProcesses().isPresent()
                        ? holders.unlistedProcesses().getAsLong() + " more are counted"
                        : "others were not counted");
        Answer.Known listed = known.with(GpuProcesses.cut(byPod, missing));
        boolean left = pods.stream()
                .filter(pod -> pod.canLeave() && !pod.ended())
                .map(PodView::path)
                .anyMatch(pod -> byPod.containsKey(pod) || known.holders().containsKey(pod));
        return left ? listed : part(node, question, listed, missing);
    }

    private static Answer asks() {
        return new Answer.Asked("its daemon is asked which pods hold its GPUs");
    }

    /** Returns the holders that a node has reported, once its answer includes all present pods. */
    private Answer settled(
            String node, Question question, GpuHolders holders, Set<String> gpus, Collection<PodView> pods) {
        if (!holders.complete()) {
            return new Answer.Unknown("its daemon cannot identify the GPUs of all devices: "
                    + holders.unresolved().stream()
                            .findFirst()
                            .map(device -> device.namespace() + "/" + device.pod() + " has " + device.deviceId() + ", "
                                    + device.why())
                            .orElse(holders.unlisted() + " are not listed"));
        }
        List<PodView> came =
                pods.stream().filter(pod -> cameAfter(pod, holders)).toList();
        Instant now = clock.instant();
        boolean taken = came.stream().allMatch(pod -> pod.taken().isPresent());
        Instant until = question.asked().plus(taken ? PAUSE : patience);
        if (!came.isEmpty() && now.isBefore(until)) {
            retryAfter(node, Duration.between(now, until));
            return new Answer.Asked(came.get(0).path() + " came after the daemon answered and may get one of its GPUs");
        }
        return !came.isEmpty() && taken && question.arrivals() < MOST_ARRIVALS
                ? ask(node, question.since(), question.tries(), question.arrivals() + 1, question.missing())
                : withProcesses(node, question, read(holders, gpus, pods, came), holders, gpus, pods);
    }

    /** Returns true if a pod that requests a GPU may have got one after the answer. */
    private static boolean cameAfter(PodView pod, GpuHolders holders) {
        boolean before = pod.taken()
                .filter(second -> !second.plusSeconds(1).isAfter(holders.asOf()))
                .isPresent();
        boolean never = pod.taken().isEmpty() && pod.deleted().isPresent();
        return pod.wantsGpu() && !pod.ended() && !before && !never && !holders.isHolder(pod.namespace(), pod.name());
    }

    /**
     * Returns the holders by pod.
     *
     * @param came pods that may hold any of the GPUs: they have just started, so they lose little
     */
    private static Answer.Known read(
            GpuHolders holders, Set<String> gpus, Collection<PodView> pods, Collection<PodView> came) {
        Set<String> there = pods.stream().map(PodView::path).collect(Collectors.toSet());
        Map<String, Set<String>> byPod = new TreeMap<>();
        for (String gpu : gpus) {
            for (GpuHolders.Pod pod : holders.podsOf(gpu)) {
                // Kubelets before 1.34 also list pods that have ended.
                if (there.contains(pod.toString())) {
                    byPod.computeIfAbsent(pod.toString(), any -> new TreeSet<>())
                            .add(gpu);
                }
            }
        }
        came.forEach(pod -> byPod.put(pod.path(), new TreeSet<>(gpus)));
        return new Answer.Known(byPod, holders.asOf());
    }

    private Answer failed(String node, Question question, Answer status, String why) {
        return question.tries() < TRIES
                ? ask(node, question.since(), question.tries() + 1, question.arrivals(), question.missing())
                : without(node, question, status, "its daemon does not report their holders: " + why);
    }

    private Answer ask(String node, Instant since, int tries, int arrivals, Optional<String> missing) {
        Question question =
                new Question(since, clock.instant(), tries, arrivals, Optional.empty(), Optional.empty(), missing);
        questions.put(node, question);
        try {
            threads.execute(() -> asked(node, question));
            retryAfter(node, patience);
        } catch (RejectedExecutionException e) {
            // The program stops; the next leader asks again.
        }
        return asks();
    }

    private void retryAfter(String node, Duration after) {
        try {
            var unused = threads.schedule(() -> again.accept(node), after.toMillis() + 1, TimeUnit.MILLISECONDS);
        } catch (RejectedExecutionException e) {
            // The program stops.
        }
    }

    private void asked(String node, Question question) {
        Optional<String> id = Optional.empty();
        Optional<String> why = Optional.empty();
        try {
            id = Optional.of(lookups.ask(node).id());
        } catch (ApiException e) {
            why = Optional.of(String.valueOf(e.getMessage()));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return;
        }
        boolean unused = questions.replace(node, question, question.answered(id, why));
        again.accept(node);
    }

    @Override
    public void close() {
        threads.shutdownNow();
    }
}
