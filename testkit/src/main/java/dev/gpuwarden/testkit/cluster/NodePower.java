package dev.gpuwarden.testkit.cluster;

import dev.gpuwarden.core.util.Threads;
import dev.gpuwarden.testkit.Unchecked;
import java.nio.file.Files;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** Restarts a node, by request or when its first process ends for that. One restart at a time. Thread-safe. */
final class NodePower implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(NodePower.class.getName());

    private final NodeBoot.Machine machine;
    private final ExecutorService restarts;
    private final CountDownLatch closing = new CountDownLatch(1);
    private volatile Restart restart = Restart.COMES_BACK;
    private volatile Duration off = Duration.ZERO;
    private volatile NodeBoot boot;
    private final AtomicInteger boots = new AtomicInteger(1);

    private NodePower(NodeBoot.Machine machine, NodeBoot boot) {
        this.machine = machine;
        this.boot = boot;
        this.restarts = Executors.newSingleThreadExecutor(Threads.daemon("node-" + machine.k() + "-power"));
        follow(boot);
    }

    /** Boots the machine; blocks as {@link NodeBoot.Machine#boot()} does. */
    static NodePower on(NodeBoot.Machine machine) {
        return new NodePower(machine, machine.boot());
    }

    private void follow(NodeBoot boot) {
        boot.whenItEnds(() -> {
            if (boot.exitCode().orElse(0) == NodeBoot.RESTART && closing.getCount() > 0) {
                var unused = submit(boot);
            }
        });
    }

    /** Applies from the next restart on. */
    void restartsLike(Restart restart, Duration off) {
        this.restart = restart;
        this.off = off;
        Unchecked.run(() -> {
            var ignores = machine.folder().resolve("ignores-power");
            if (restart == Restart.IGNORED && !Files.exists(ignores)) {
                Files.createFile(ignores);
            } else if (restart != Restart.IGNORED) {
                Files.deleteIfExists(ignores);
            }
        });
    }

    /** Restarts it as by its button; blocks until its first process runs again, or it is off for good. */
    void restart() {
        submit(boot).join();
    }

    private CompletableFuture<Void> submit(NodeBoot ending) {
        return CompletableFuture.runAsync(() -> restart(ending), restarts).whenComplete((done, failure) -> {
            if (failure != null) {
                LOG.log(System.Logger.Level.ERROR, "restart of node-" + machine.k(), failure);
            }
        });
    }

    private void restart(NodeBoot ending) {
        Restart how = restart;
        if (ending != boot || how == Restart.IGNORED || closing.getCount() == 0) {
            return;
        }
        ending.close();
        try {
            if (how == Restart.NEVER_COMES_BACK || closing.await(off.toMillis(), TimeUnit.MILLISECONDS)) {
                return;
            }
            if (how == Restart.COMES_BACK) {
                machine.gpus().reboot();
            }
            NodeBoot next = machine.boot();
            boot = next;
            boots.incrementAndGet();
            follow(next);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Returns true while its first process lives. */
    boolean running() {
        return boot.running();
    }

    int boots() {
        return boots.get();
    }

    /** Switches it off; a restart that is under way ends first. */
    @Override
    public void close() {
        closing.countDown();
        restarts.shutdown();
        Program.uninterrupted(() -> restarts.awaitTermination(10, TimeUnit.MINUTES));
        boot.close();
    }
}
