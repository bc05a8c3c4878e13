package dev.gpuwarden.daemon.repair;

import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.daemon.repair.RepairAttempt.Kind;
import dev.gpuwarden.daemon.repair.RepairAttempt.Outcome;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * The decision about the next repair of this server. Pure.
 *
 * @param action the repair to begin now; empty if there is none
 * @param tasks tasks of an operator, each with its reason
 * @param again time of the next decision if no fault changes before; empty if there is none
 */
record ServerDecision(Optional<Planned> action, List<String> tasks, Optional<Instant> again) {

    /**
     * @param subjects all GPUs of a reset, also those that can only be reset together with the ones at fault
     * @param why the faults, for operators
     */
    record Planned(Kind kind, Set<String> subjects, String why) {
        String text() {
            return RepairAttempt.text(kind, subjects) + " (" + why + ")";
        }
    }

    ServerDecision {
        tasks = List.copyOf(tasks);
    }

    /**
     * @param faults those whose parts are bad now ({@link RepairReason#present})
     * @param attempts the earlier repairs, all of which have ended
     */
    static ServerDecision decide(
            Collection<Fault> faults, List<RepairAttempt> attempts, RepairRules rules, ServerGpus gpus, Instant now) {
        ServerDecision decision = new Decider(attempts, rules, gpus, now).decide(RepairRequest.of(faults));
        List<String> tasks = new ArrayList<>(decision.tasks());
        tasks.addAll(RepairRequest.unproven(faults));
        return new ServerDecision(decision.action(), tasks, decision.again());
    }

    private static final class Decider {
        private final List<RepairAttempt> attempts;
        private final RepairRules rules;
        private final ServerGpus gpus;
        private final Instant now;
        private final List<RepairRequest> resets = new ArrayList<>();
        private final List<RepairRequest> reboots = new ArrayList<>();
        private final List<RepairRequest> hooks = new ArrayList<>();
        private final List<String> tasks = new ArrayList<>();
        private Optional<Instant> again = Optional.empty();

        Decider(List<RepairAttempt> attempts, RepairRules rules, ServerGpus gpus, Instant now) {
            this.attempts = attempts;
            this.rules = rules;
            this.gpus = gpus;
            this.now = now;
        }

        ServerDecision decide(List<RepairRequest> requests) {
            requests.forEach(this::sort);
            Optional<Planned> planned = planned();
            if (planned.isPresent() && recent(RepairRules.DAY) >= rules.mostPerDay()) {
                tasks.add(planned.get().text() + ": the bound of " + rules.mostPerDay()
                        + " repairs within 24 h is reached (--repair.most-per-day)");
                attempts.stream()
                        .map(each -> each.began().plus(RepairRules.DAY))
                        .filter(now::isBefore)
                        .forEach(this::wait);
                planned = Optional.empty();
            }
            return new ServerDecision(planned, tasks, again);
        }

        private Optional<Planned> planned() {
            if (!reboots.isEmpty()) {
                Planned reboot = planned(Kind.REBOOT, reboots);
                if (rules.reboots()) {
                    return Optional.of(reboot);
                }
                tasks.add(reboot.text() + ": --repair.reboot=never leaves it to an operator");
            }
            return resets.stream()
                    .findFirst()
                    .map(oldest -> planned(Kind.RESET, List.of(oldest)))
                    .or(() -> hooks.stream().findFirst().map(oldest -> planned(Kind.HOOK, List.of(oldest))));
        }

        private Planned planned(Kind kind, List<RepairRequest> requests) {
            Set<String> subjects = new TreeSet<>();
            Set<String> names = new TreeSet<>();
            for (RepairRequest request : requests) {
                subjects.addAll(request.subjects());
                names.add(request.name());
            }
            Set<String> all = kind == Kind.RESET ? gpus.reset(subjects).orElseThrow() : subjects;
            return new Planned(kind, all, String.join(", ", names));
        }

        private void sort(RepairRequest request) {
            Optional<Kind> kind = request.kind(rules.hooks(), gpus);
            if (kind.isEmpty()) {
                tasks.add(request.task(gpus));
                return;
            }
            if (within(request.since(), rules.settle())) {
                wait(request.since().plus(rules.settle()));
                return;
            }
            List<RepairAttempt> earlier = attempts.stream()
                    .filter(each -> each.subjects().stream().anyMatch(request.subjects()::contains))
                    .filter(each -> each.began().isAfter(now.minus(RepairRules.MEMORY)))
                    .toList();
            if (!earlier.isEmpty() && waits(request, earlier)) {
                return;
            }
            if (kind.get() == Kind.HOOK) {
                hook(request, earlier);
                return;
            }
            if (ended(earlier, Kind.REBOOT, Outcome.FAILED) > 0) {
                replace(request, "its last reboot failed");
                return;
            }
            boolean restarts = kind.get() == Kind.REBOOT
                    || ended(earlier, Kind.RESET, Outcome.FAILED) > 0
                    || ended(earlier, Kind.RESET, Outcome.SUCCEEDED) >= rules.attempts();
            long done = ended(earlier, Kind.REBOOT, Outcome.SUCCEEDED);
            if (!restarts) {
                reset(request);
            } else if (done < rules.attempts()) {
                reboots.add(request);
            } else {
                replace(request, done + " reboots within 7 days did not repair it");
            }
        }

        private void reset(RepairRequest request) {
            if (gpus.listed().containsAll(gpus.reset(request.subjects()).orElseThrow())) {
                resets.add(request);
            } else {
                tasks.add(request.task(gpus) + ": the driver does not list it now, so it cannot be reset");
            }
        }

        private void hook(RepairRequest request, List<RepairAttempt> earlier) {
            long done = ended(earlier, Kind.HOOK, Outcome.SUCCEEDED);
            if (ended(earlier, Kind.HOOK, Outcome.FAILED) > 0) {
                tasks.add(request.task(gpus) + ": the hook failed within 7 days (gpuwarden repairs)");
            } else if (done < rules.attempts()) {
                hooks.add(request);
            } else {
                tasks.add(request.task(gpus) + ": " + done + " runs of the hook within 7 days did not repair it");
            }
        }

        private void replace(RepairRequest request, String why) {
            tasks.add("repair or replace " + String.join(", ", new TreeSet<>(request.subjects())) + ", at fault with "
                    + request.name() + ": " + why);
        }

        /** Returns true if the last repair of the request was so recent that it is too early for another. */
        private boolean waits(RepairRequest request, List<RepairAttempt> earlier) {
            RepairAttempt last = earlier.get(earlier.size() - 1);
            Instant ended = last.end().map(RepairAttempt.End::at).orElse(now);
            Duration reported = rules.settle().compareTo(RepairRules.REPORT) > 0 ? rules.settle() : RepairRules.REPORT;
            boolean held = last.ended(Outcome.HELD) && !triedAgainSoon(earlier);
            Duration pause = held ? RepairRules.RETRY : reported;
            if (!within(ended, pause)) {
                return false;
            }
            Instant next = ended.plus(pause);
            wait(next);
            if (held) {
                tasks.add(last.text() + " for " + request.name() + " was not begun: "
                        + last.end().map(RepairAttempt.End::detail).orElse("") + "; it is tried again at "
                        + next.truncatedTo(ChronoUnit.SECONDS));
            }
            return true;
        }

        /** An end of the daemon is no fact about the GPU. One end in a row alone: the repair itself may end the daemon. */
        private static boolean triedAgainSoon(List<RepairAttempt> earlier) {
            int last = earlier.size() - 1;
            return earlier.get(last).interrupted()
                    && (last == 0 || !earlier.get(last - 1).interrupted());
        }

        /** Returns true during the pause after a time. A time far ahead is that of a clock which was wrong, and delays nothing. */
        private boolean within(Instant time, Duration pause) {
            return now.isBefore(time.plus(pause)) && !now.isBefore(time.minus(pause));
        }

        private static long ended(List<RepairAttempt> earlier, Kind kind, Outcome outcome) {
            return earlier.stream()
                    .filter(each -> each.kind() == kind && each.ended(outcome))
                    .count();
        }

        private long recent(Duration time) {
            return attempts.stream()
                    .filter(each -> each.began().isAfter(now.minus(time)))
                    .count();
        }

        private void wait(Instant until) {
            again = again.filter(before -> before.isBefore(until)).or(() -> Optional.of(until));
        }
    }
}
