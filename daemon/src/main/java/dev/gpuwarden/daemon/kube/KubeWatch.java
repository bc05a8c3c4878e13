package dev.gpuwarden.daemon.kube;

import dev.gpuwarden.cli.JsonReader;
import dev.gpuwarden.core.limit.Backoff;
import dev.gpuwarden.core.util.JsonTrees;
import dev.gpuwarden.core.util.LoopThread;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/**
 * Follows the objects that a selector names: a list, then a watch from there, and a new list after each failure. One thread, which
 * calls the listener. Objects count as known while there are signs of the API server.
 */
public final class KubeWatch implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(KubeWatch.class.getName());

    /** The longest silence of a watch. The API server sends a bookmark each minute. */
    public static final Duration SILENCE = Duration.ofSeconds(90);

    private static final int PAGE = 100;
    private static final int MOST_PAGES = 40;
    private static final int GONE = 410;
    /** Length of a watch, so that all nodes do not connect again in the same moment. */
    private static final int SHORTEST_SECONDS = 300;

    private static final long PAUSE_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final Backoff RETRY = new Backoff(Duration.ofSeconds(1), Duration.ofSeconds(30), 0.5);

    /** Receives the objects, in the thread of the watch. Methods must not block. */
    public interface Listener {

        /** @param objects all that there are; others are gone */
        void listed(List<Map<?, ?>> objects);

        /** @param object a new one, or its new state */
        void changed(Map<?, ?> object);

        void removed(Map<?, ?> object);
    }

    /**
     * The objects to follow.
     *
     * @param path such as `/api/v1/pods`
     * @param selector a field selector with `=` and `%3D`
     * @param skipped names of fields that are not needed, at any level
     */
    record Selection(ApiRequest.Kind kind, String path, String selector, Set<String> skipped) {

        String query() {
            return path + "?fieldSelector=" + selector;
        }

        @Override
        public String toString() {
            return path.substring(path.lastIndexOf('/') + 1) + " with " + selector.replace("%3D", "=");
        }
    }

    private final KubeClient client;
    private final Selection selection;
    private final JsonReader json;
    private final Listener listener;
    private final Duration silence;
    private final LoopThread thread = new LoopThread("gpuwarden-kube-watch", this::turn);
    private volatile boolean listed;
    private volatile long currentNanos;
    private volatile String problem = "no list has arrived yet";
    private String logged = "";
    private int failures;

    KubeWatch(KubeClient client, Selection selection, Listener listener, Duration silence) {
        this.client = client;
        this.selection = selection;
        this.json = JsonReader.ofDepth(JsonReader.DEEPEST).without(selection.skipped());
        this.listener = listener;
        this.silence = silence;
        thread.start();
    }

    /** Returns why the objects may be others by now; empty while they are known. Does not block. */
    public Optional<String> doubt() {
        long age = System.nanoTime() - currentNanos;
        if (listed && age <= silence.toNanos()) {
            return Optional.empty();
        }
        String since = listed ? "no sign of the API server for " + TimeUnit.NANOSECONDS.toSeconds(age) + " s: " : "";
        return Optional.of(since + problem);
    }

    private long turn() throws InterruptedException {
        try {
            String version = list();
            if (failures > 0) {
                LOG.log(Level.INFO, "following " + selection + " again");
            }
            failures = 0;
            logged = "";
            follow(version);
            return PAUSE_NANOS;
        } catch (IOException | RuntimeException e) {
            failures++;
            failed(e);
            return RETRY.pause(failures).toNanos();
        }
    }

    private void failed(Exception cause) {
        problem = String.valueOf(cause.getMessage());
        String kind = cause instanceof KubeException answered ? "answer " + answered.status() : problem;
        if (!kind.equals(logged)) {
            logged = kind;
            LOG.log(Level.WARNING, "cannot follow " + selection + ", with retries: " + problem);
        }
    }

    private String list() throws IOException, InterruptedException {
        long start = System.nanoTime();
        List<Map<?, ?>> all = new ArrayList<>();
        String next = "";
        for (int page = 0; page < MOST_PAGES; page++) {
            String path = selection.query() + "&limit=" + PAGE + (next.isEmpty() ? "" : "&continue=" + next);
            Map<?, ?> answer = client.ask(ApiRequest.get(selection.kind(), path), json);
            all.addAll(JsonTrees.objects(answer, "items"));
            Map<?, ?> metadata = JsonTrees.object(answer, "metadata");
            next = JsonTrees.text(metadata, "continue");
            if (next.isEmpty()) {
                listener.listed(all);
                current(start);
                return JsonTrees.text(metadata, "resourceVersion");
            }
        }
        throw new IOException("expected at most " + PAGE * MOST_PAGES + " objects, but there are more");
    }

    private void current(long nanos) {
        currentNanos = nanos;
        listed = true;
    }

    /** Returns when the API server has no changes since this version any more. */
    private void follow(String from) throws IOException, InterruptedException {
        String version = from;
        while (!thread.isClosed()) {
            int seconds = SHORTEST_SECONDS + ThreadLocalRandom.current().nextInt(SHORTEST_SECONDS);
            String path = selection.query() + "&watch=true&allowWatchBookmarks=true&timeoutSeconds=" + seconds
                    + "&resourceVersion=" + version;
            try (LineBody lines = client.watch(ApiRequest.get(selection.kind(), path))) {
                current(System.nanoTime());
                for (Optional<byte[]> line = lines.next(silence); line.isPresent(); line = lines.next(silence)) {
                    Map<?, ?> event = json.readObject(line.get());
                    Map<?, ?> object = JsonTrees.object(event, "object");
                    switch (JsonTrees.text(event, "type")) {
                        case "ADDED", "MODIFIED" -> listener.changed(object);
                        case "DELETED" -> listener.removed(object);
                        case "ERROR" -> {
                            if (JsonTrees.number(object, "code") == GONE) {
                                return;
                            }
                            throw new IOException("the watch ends: " + JsonTrees.text(object, "message"));
                        }
                        // BOOKMARK, which has a version alone.
                        default -> {}
                    }
                    version = JsonTrees.text(JsonTrees.object(object, "metadata"), "resourceVersion");
                    current(System.nanoTime());
                }
            } catch (KubeException e) {
                if (e.status() == GONE) {
                    return;
                }
                throw e;
            }
            problem = "the watch has ended";
            thread.pause(PAUSE_NANOS);
        }
    }

    @Override
    public void close() {
        thread.interrupt(Duration.ofSeconds(2));
    }
}
