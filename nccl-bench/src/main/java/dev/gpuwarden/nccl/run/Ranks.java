package dev.gpuwarden.nccl.run;

import dev.gpuwarden.core.port.CollectiveDriver;
import dev.gpuwarden.core.port.CollectiveException;
import dev.gpuwarden.core.util.Threads;
import dev.gpuwarden.nccl.group.Team;
import dev.gpuwarden.nccl.report.Verdict;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** The ranks of this process and their supervisor: the first failure ends all of them, and a rank that hangs is left behind. */
final class Ranks {

    /** Time for a rank to notice a failure of another one, or its own deadline. */
    private static final Duration GRACE = Duration.ofSeconds(5);

    private static final long POLL_MILLIS = 100;

    /** The driver compiles the kernel of the check in the thread of the rank. */
    private static final long STACK_BYTES = 8L << 20;

    /** ncclRemoteError: a rank that sees a failure may be faster than the one that has it. */
    private static final int REMOTE = 6;

    private final List<Rank> ranks;
    private final Team team;
    private final CountDownLatch ended;
    /** The first failure with a cause of its own; guarded by this. */
    private Optional<Failure> failure = Optional.empty();

    /** The first consequence of another rank's failure; guarded by this. */
    private Optional<Failure> consequence = Optional.empty();

    private long consequenceNanos;

    private Optional<Rank.Result> result = Optional.empty();

    Ranks(List<Rank> ranks, Team team) {
        this.ranks = ranks;
        this.team = team;
        ended = new CountDownLatch(ranks.size());
    }

    /** A result, or a failure. */
    record Outcome(Optional<Rank.Result> result, Optional<Failure> failure) {}

    /** Runs all ranks, and waits for their end. */
    Outcome run(CollectiveDriver driver) {
        for (int i = 0; i < ranks.size(); i++) {
            Rank rank = ranks.get(i);
            Threads.daemon("gpuwarden-rank-" + i, STACK_BYTES, () -> run(rank, driver))
                    .start();
        }
        while (!ended(POLL_MILLIS)) {
            if (ranks.stream().anyMatch(rank -> rank.patience().isOver(GRACE))) {
                failed(new Failure(Verdict.TIMEOUT, "a call of the library does not return"));
            }
            if (hasFailed()) {
                stop();
                var unused = ended(GRACE.toMillis());
                break;
            }
        }
        return outcome();
    }

    private boolean ended(long millis) {
        try {
            return ended.await(millis, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return true;
        }
    }

    private void run(Rank rank, CollectiveDriver driver) {
        try {
            Rank.Result done = rank.run(driver);
            synchronized (this) {
                result = Optional.of(done);
            }
        } catch (CollectiveException e) {
            if (isConsequence(e, rank)) {
                followed(Failure.of(e));
            } else {
                failed(Failure.of(e));
            }
        } catch (Team.Left e) {
            followed(new Failure(Verdict.INTERNAL, String.valueOf(e.getMessage())));
        } catch (RuntimeException | Error e) {
            failed(new Failure(Verdict.INTERNAL, "failed: " + e));
        } finally {
            ended.countDown();
        }
    }

    /** Returns whether another rank is the cause. A time that was over only after the first failure is none. */
    private synchronized boolean isConsequence(CollectiveException failure, Rank rank) {
        return switch (failure.kind()) {
            case ABORTED -> true;
            case COLLECTIVES -> failure.code() == REMOTE;
            case TIMEOUT -> consequence.isPresent() && !rank.patience().wasOver(consequenceNanos);
            default -> false;
        };
    }

    private synchronized void followed(Failure why) {
        if (consequence.isEmpty()) {
            consequence = Optional.of(why);
            consequenceNanos = System.nanoTime();
        }
    }

    private synchronized void failed(Failure why) {
        if (failure.isEmpty()) {
            failure = Optional.of(why);
        }
    }

    private synchronized boolean hasFailed() {
        return failure.isPresent() || consequence.isPresent();
    }

    private void stop() {
        team.fail("another rank failed");
        ranks.forEach(Rank::abort);
    }

    private synchronized Outcome outcome() {
        Optional<Failure> why = failure.or(() -> consequence);
        return new Outcome(why.isPresent() ? Optional.empty() : result, why);
    }
}
