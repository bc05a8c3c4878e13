package dev.gpuwarden.checks.access;

import dev.gpuwarden.checks.access.GpuRelease.Released;
import dev.gpuwarden.checks.process.OpenFiles;
import dev.gpuwarden.checks.telemetry.NodeSampler;
import dev.gpuwarden.core.model.Identifiers;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import dev.gpuwarden.core.util.Threads;
import java.lang.System.Logger.Level;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

/**
 * The requests of programs of this node that the daemon lets go of GPUs. A request lasts as long as its caller, so a program that
 * ends gives the GPUs back. One thread does the work: it waits for checks and for the driver. Thread-safe.
 */
public final class GpuReleases implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(GpuReleases.class.getName());

    private static final int MOST_REQUESTS = 8;
    private static final Duration CHECKS = Duration.ofSeconds(10);
    private static final Duration DRIVER = Duration.ofSeconds(20);

    /** The steps of a request. */
    public enum State {
        RELEASING,
        RELEASED,
        /** The daemon reads the GPUs as before. */
        FAILED,
        /** The time is over. */
        EXPIRED
    }

    /** @param reason the cause of FAILED; otherwise empty */
    public record Progress(State state, String reason) {}

    /** A request that cannot begin. */
    public static final class ReleaseRefusal extends RuntimeException {
        private static final long serialVersionUID = 1;

        ReleaseRefusal(String message) {
            super(message);
        }
    }

    /** @param uuids empty for all GPUs of the node */
    public record Request(List<String> uuids, String reason, Duration hold) {
        public Request {
            uuids = uuids.stream().map(Identifiers::gpu).toList();
        }
    }

    /** The place for requests. */
    public interface Desk {
        /**
         * Begins a request.
         *
         * @param listener receives its steps, on another thread
         * @return ends the request; the daemon then reads the GPUs again
         * @throws ReleaseRefusal if the GPUs are unknown or released already, or too many requests are open
         */
        Runnable open(Request request, Consumer<Progress> listener);
    }

    private final GpuRelease checks;
    private final NodeSampler sampler;
    private final Path devices;
    private final ScheduledExecutorService work =
            Executors.newSingleThreadScheduledExecutor(Threads.daemon("gpuwarden-releases"));
    private final List<Open> requests = new ArrayList<>();

    /** @param devices the folder of the GPUs' files, /dev */
    public GpuReleases(GpuRelease checks, NodeSampler sampler, Path devices) {
        this.checks = checks;
        this.sampler = sampler;
        this.devices = devices;
    }

    /** Implements {@link Desk#open}. */
    public synchronized Runnable open(Request request, Consumer<Progress> listener) {
        List<GpuSnapshot> gpus = sampler.snapshot().gpus();
        Map<Integer, String> uuids = new HashMap<>();
        Set<Path> files = new HashSet<>();
        for (GpuSnapshot gpu : gpus) {
            String uuid = gpu.identity().selector();
            if (request.uuids().isEmpty() || request.uuids().contains(uuid)) {
                uuids.put(gpu.identity().index(), uuid);
                gpu.identity().minor().asOptional().ifPresent(minor -> files.add(devices.resolve("nvidia" + minor)));
            }
        }
        for (String asked : request.uuids()) {
            if (!uuids.containsValue(asked)) {
                throw new ReleaseRefusal("GPU " + asked + " is not on this node; expected one of "
                        + gpus.stream().map(gpu -> gpu.identity().selector()).toList());
            }
        }
        for (Open other : requests) {
            if (uuids.keySet().stream().anyMatch(other.uuids::containsKey)) {
                throw new ReleaseRefusal("a GPU is released already, for " + other.request.reason());
            }
        }
        if (requests.size() >= MOST_REQUESTS) {
            throw new ReleaseRefusal(MOST_REQUESTS + " requests are open already");
        }
        Open open = new Open(request, uuids, files, listener);
        requests.add(open);
        listener.accept(new Progress(State.RELEASING, ""));
        work.execute(open::begin);
        var unused =
                work.schedule(() -> open.end(State.EXPIRED, ""), request.hold().toMillis(), TimeUnit.MILLISECONDS);
        return () -> work.execute(() -> open.end(State.EXPIRED, ""));
    }

    /** Applies the open requests to the sampler. Returns the cause of a failure. */
    private Optional<String> apply() throws InterruptedException {
        Map<Integer, String> all = new HashMap<>();
        synchronized (this) {
            requests.forEach(open -> open.uuids.keySet().forEach(index -> all.put(index, open.request.reason())));
        }
        try {
            return sampler.release(all).get(DRIVER.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            return Optional.of("a call into the driver has not returned for " + DRIVER.toSeconds() + " s");
        } catch (ExecutionException e) {
            throw new IllegalStateException(e.getCause());
        }
    }

    /** Ends all requests. The sampler is closed after this and reads nothing again. */
    @Override
    public void close() {
        work.shutdownNow();
        synchronized (this) {
            requests.forEach(open -> open.released.forEach(Released::close));
            requests.clear();
        }
    }

    /** A request until its end. Its methods run on the one thread. */
    private final class Open {
        private final Request request;
        private final Map<Integer, String> uuids;
        private final Set<Path> files;
        private final Consumer<Progress> listener;
        private final List<Released> released = new ArrayList<>();

        Open(Request request, Map<Integer, String> uuids, Set<Path> files, Consumer<Progress> listener) {
            this.request = request;
            this.uuids = uuids;
            this.files = files;
            this.listener = listener;
        }

        void begin() {
            try {
                Optional<String> failure = release();
                if (failure.isPresent()) {
                    end(State.FAILED, failure.get());
                } else if (isOpen()) {
                    LOG.log(Level.INFO, "released for " + request.reason() + ": " + uuids.values());
                    listener.accept(new Progress(State.RELEASED, ""));
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            } catch (RuntimeException e) {
                LOG.log(Level.ERROR, "GPUs could not be released, a defect", e);
                end(State.FAILED, "a defect of gpuwarden: " + e);
            }
        }

        private Optional<String> release() throws InterruptedException {
            for (String uuid : uuids.values()) {
                Released gpu = checks.release(uuid, request.reason(), CHECKS);
                released.add(gpu);
                if (!gpu.isFree()) {
                    return Optional.of("a check still works on GPU " + uuid + " after " + CHECKS.toSeconds() + " s");
                }
            }
            Optional<String> failure = apply();
            return failure.isPresent() ? failure : held();
        }

        /** A CUDA library that this process has started keeps files of GPUs open to the end of the process. */
        private Optional<String> held() {
            List<Path> held = OpenFiles.ofThisProcess(files);
            return held.isEmpty()
                    ? Optional.empty()
                    : Optional.of("this daemon still holds " + held
                            + ", as after a check in its own process; set --check.isolation=child and restart it");
        }

        private boolean isOpen() {
            synchronized (GpuReleases.this) {
                return requests.contains(this);
            }
        }

        void end(State state, String reason) {
            synchronized (GpuReleases.this) {
                if (!requests.remove(this)) {
                    return;
                }
            }
            released.forEach(Released::close);
            try {
                apply().ifPresent(why -> LOG.log(Level.WARNING, "GPUs could not be taken again: " + why));
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            LOG.log(Level.INFO, "taken again: " + uuids.values());
            listener.accept(new Progress(state, reason));
        }
    }
}
