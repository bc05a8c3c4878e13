package dev.gpuwarden.watchdog.lint;

import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.util.Mib;
import dev.gpuwarden.watchdog.budget.PodBudget.Amount;
import dev.gpuwarden.watchdog.budget.PodBudget.State;
import dev.gpuwarden.watchdog.budget.Quantity;
import dev.gpuwarden.watchdog.lint.LintFinding.Rule;
import dev.gpuwarden.watchdog.lint.Workload.Container;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The faults of one workload's budget, from its manifest alone. */
public final class BudgetLint {

    /** 16 TiB: no card has as much, and a size in bytes is always more. */
    private static final long IMMENSE_BYTES = 1L << 44;

    private final LintRules rules;
    private final Workload workload;
    private final List<LintFinding> findings = new ArrayList<>();

    private BudgetLint(LintRules rules, Workload workload) {
        this.rules = rules;
        this.workload = workload;
    }

    /** Returns whether the workload asks for the resource anywhere. */
    public static boolean hasBudget(Workload workload) {
        return workload.pod().overhead().isPresent()
                || workload.pod().ofPod().isPresent()
                || workload.pod().containers().stream()
                        .anyMatch(container -> container.request().isPresent()
                                || container.limit().isPresent());
    }

    /** Returns the findings, those of quantities first; empty for a workload without a budget. */
    public static List<LintFinding> judge(Workload workload, LintRules rules) {
        BudgetLint lint = new BudgetLint(rules, workload);
        if (hasBudget(workload)) {
            lint.quantities();
            lint.amounts();
        }
        return List.copyOf(lint.findings);
    }

    private void quantities() {
        workload.pod()
                .ofPod()
                .ifPresent(quantity -> found(
                        Rule.POD_LEVEL,
                        "spec.resources has " + rules.resource() + "; the API server takes it for containers alone",
                        "move it to the limits of a container"));
        for (Container container : workload.pod().containers()) {
            String name = "container " + container.name();
            container.limit().ifPresent(limit -> quantity(name, limit));
            container
                    .request()
                    .filter(request -> !container.limit().equals(Optional.of(request)))
                    .ifPresent(request -> {
                        if (container.limit().isPresent()) {
                            quantity(name, request);
                        }
                        equality(name, request, container.limit());
                    });
        }
        workload.pod().overhead().ifPresent(overhead -> quantity("overhead", overhead));
    }

    private void quantity(String where, String text) {
        if (Quantity.mebibytes(text) instanceof Reading.Absent<Long> absent) {
            found(Rule.NO_QUANTITY, where + ": " + absent.detail(), "write a whole number of MiB, such as 3000");
        } else if (Quantity.mebibytes(text) instanceof Reading.Present<Long> bytes && bytes.value() > IMMENSE_BYTES) {
            long number = bytes.value() >> 20;
            found(
                    Rule.UNIT,
                    where + ": '" + text + "' is " + number
                            + " MiB, more than any card has; the unit is MiB, not bytes",
                    "write " + Math.max(1, number >> 20) + " if you meant " + text + " of memory");
        }
    }

    private void equality(String where, String request, Optional<String> limit) {
        if (limit.isEmpty()) {
            found(
                    Rule.REQUEST_IS_NOT_LIMIT,
                    where + ": a request of '" + request + "' without a limit; the API server refuses it",
                    "write the limit; the request follows from it");
        } else if (!value(request).equals(value(limit.get()))) {
            found(
                    Rule.REQUEST_IS_NOT_LIMIT,
                    where + ": expected request and limit to be equal, seen '" + request + "' and '" + limit.get()
                            + "'",
                    "write the limit alone; the request follows from it");
        }
    }

    /** Returns the value; empty where the text is no quantity, which is a finding of its own. */
    private static Optional<BigDecimal> value(String text) {
        try {
            return Optional.of(Quantity.parse(text).value().stripTrailingZeros());
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    private void amounts() {
        Amount budget = workload.pod().budget(workload.fullName()).total();
        if (budget.state() == State.KNOWN
                && budget.bytes() instanceof Reading.Present<Long> bytes
                && bytes.value() > 0) {
            if (bytes.value() <= IMMENSE_BYTES) {
                largestCard(bytes.value());
            }
            surge(bytes.value());
            gpus(bytes.value());
            rules.used(workload)
                    .filter(used -> used > bytes.value())
                    .ifPresent(
                            used -> found(
                                    Rule.BELOW_USE,
                                    "budget " + Mib.text(bytes.value()) + ", measured use " + Mib.text(used)
                                            + ": it is over its budget at rest",
                                    "raise the budget, or find out why it uses more; is the budget meant for another workload?"));
        }
    }

    private void largestCard(long bytes) {
        long cards = Math.max(1, workload.pod().gpus());
        rules.largestCardBytes().ifPresent(card -> {
            if (bytes > card * (double) cards) {
                found(
                        Rule.ABOVE_LARGEST_CARD,
                        "budget " + Mib.text(bytes) + ", and the largest card has " + Mib.text(card) + " for budgets"
                                + (cards == 1 ? "" : ", " + cards + " of them " + Mib.text(card * cards)),
                        "lower the budget, or split the workload; its pods stay Pending, or start on a card that is too small");
            } else if (workload.replicas() > 1 && bytes * (double) workload.replicas() > card * (double) cards) {
                found(
                        Rule.REPLICAS_ABOVE_CARD,
                        workload.replicas() + " replicas of " + Mib.text(bytes) + " do not fit on one card with "
                                + Mib.text(card) + " for budgets; " + Math.max(1, card * cards / bytes) + " do",
                        "make sure that the cluster has enough cards");
            }
        });
    }

    private void surge(long bytes) {
        workload.surge()
                .filter(surge -> workload.replicas() > 0 && !surge.matches("0+%?"))
                .ifPresent(surge -> found(
                        Rule.SURGE,
                        "an update starts pods (maxSurge " + surge + ") before it ends old ones; where less than "
                                + Mib.text(bytes) + " is left, they stay Pending and the update never ends",
                        workload.kind().equals("DaemonSet")
                                ? "set maxSurge to 0"
                                : "set strategy.type to Recreate, or maxSurge to 0 with maxUnavailable 1"));
    }

    private void gpus(long bytes) {
        if (workload.pod().gpus() == 0 && !workload.pod().usesGpus()) {
            found(
                    Rule.WITHOUT_GPU,
                    "budget " + Mib.text(bytes) + ", and no container requests a GPU",
                    "move the budget to the workload that uses the GPU");
        }
        workload.pod().containers().stream()
                .filter(container -> container.limit().or(container::request).isPresent() && container.gpus() > 1)
                .forEach(container -> found(
                        Rule.UNKNOWN_SPLIT,
                        "container " + container.name() + ": one budget for " + container.gpus()
                                + " GPUs; the part for each is unknown, so the watchdog never acts on the pod",
                        "give each container one GPU, or accept that"));
    }

    private void found(Rule rule, String problem, String remedy) {
        findings.add(new LintFinding(rule, workload, problem, remedy));
    }
}
