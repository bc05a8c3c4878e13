package dev.gpuwarden.nccl.run;

import dev.gpuwarden.core.port.AbortSignal;
import dev.gpuwarden.core.port.CollectiveDriver;
import dev.gpuwarden.core.port.CollectiveDriver.Gpu;
import dev.gpuwarden.core.port.CollectiveDriver.Member;
import dev.gpuwarden.core.port.CollectiveException;
import dev.gpuwarden.nccl.group.Exchange;
import dev.gpuwarden.nccl.group.Team;
import dev.gpuwarden.nccl.plan.Groups;
import dev.gpuwarden.nccl.plan.MemoryLimit;
import dev.gpuwarden.nccl.plan.Plan;
import dev.gpuwarden.nccl.plan.Plan.Series;
import dev.gpuwarden.nccl.plan.Split;
import dev.gpuwarden.nccl.report.RankLine;
import dev.gpuwarden.nccl.report.Row;
import dev.gpuwarden.nccl.report.RunText.MemoryUse;
import dev.gpuwarden.nccl.report.Verdict;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.IntStream;

/**
 * A run in this process: GPUs for its ranks, and the ranks.
 *
 * @param plan before the memory of the GPUs limits its sizes.
 * @param split rule of groups; empty where all ranks are one
 * @param host name of this machine, which is the same in all its processes
 */
public record Bench(
        Plan plan,
        Optional<Split> split,
        CollectiveDriver driver,
        Exchange exchange,
        int process,
        int processes,
        String host) {

    private static final String SEPARATOR = "\t";

    /**
     * GPUs and groups of all ranks.
     *
     * @param mine numbers of the GPUs of this process
     * @param ids of the groups, in the order of their first ranks
     */
    public record Devices(List<RankLine> ranks, List<Integer> mine, Plan plan, Groups groups, List<byte[]> ids) {}

    /** The end of a run. */
    public sealed interface Outcome {
        record Done(long outOfBounds, MemoryUse memory) implements Outcome {}

        record Failed(Failure failure) implements Outcome {}
    }

    /**
     * Finds a GPU and a group for each rank of this process, and those of all others.
     *
     * @param first number of the first GPU; empty to count the processes of this machine before this one
     * @throws IOException where another process has left
     * @throws CollectiveException where there are too few GPUs, or the library makes no id
     * @throws IllegalArgumentException where the groups do not suit the plan
     */
    public Devices devices(OptionalInt first) throws IOException, CollectiveException {
        List<byte[]> hosts = exchange.gather(bytes(host));
        int before = (int) hosts.subList(0, process).stream()
                .filter(other -> text(other).equals(host))
                .count();
        int from = first.orElse(before * plan.localRanks());
        List<Gpu> gpus = driver.gpus();
        if (from + plan.localRanks() > gpus.size()) {
            throw new CollectiveException(
                    CollectiveException.Kind.NOT_SUPPORTED,
                    0,
                    "Invalid number of GPUs: " + (from + plan.localRanks()) + " requested but only " + gpus.size()
                            + " were found.\nPlease check the number of processes and GPUs per process.");
        }
        List<Integer> mine =
                IntStream.range(from, from + plan.localRanks()).boxed().toList();
        StringBuilder lines = new StringBuilder();
        for (int local = 0; local < mine.size(); local++) {
            lines.append(line(gpus.get(mine.get(local)), color(local))).append('\n');
        }
        List<RankLine> ranks = new ArrayList<>();
        long memory = Long.MAX_VALUE;
        for (byte[] lineOfProcess : exchange.gather(bytes(lines.toString()))) {
            for (String line : text(lineOfProcess).split("\n")) {
                String[] parts = line.split(SEPARATOR, 7);
                ranks.add(new RankLine(
                        ranks.size(),
                        Integer.parseInt(parts[5]),
                        Long.parseLong(parts[1]),
                        parts[0],
                        Integer.parseInt(parts[2]),
                        parts[3],
                        parts[6]));
                memory = Math.min(memory, Long.parseLong(parts[4]));
            }
        }
        Groups groups = new Groups(ranks.stream().map(RankLine::group).toList());
        groups.check(plan);
        return new Devices(ranks, mine, plan.limited(MemoryLimit.of(memory, plan.checks() > 0)), groups, ids(groups));
    }

    /** With several processes the color is that of the process, as in nccl-tests. */
    private int color(int localRank) {
        return split.map(rule -> rule.color(processes > 1 ? process : localRank))
                .orElse(0);
    }

    /** Makes the ids of the groups that begin in this process, and returns those of all. */
    private List<byte[]> ids(Groups groups) throws IOException, CollectiveException {
        ByteArrayOutputStream made = new ByteArrayOutputStream();
        for (int leader : groups.leaders()) {
            if (leader / plan.localRanks() == process) {
                made.writeBytes(driver.newUniqueId());
            }
        }
        List<byte[]> ids = new ArrayList<>();
        for (byte[] ofProcess : exchange.gather(made.toByteArray())) {
            for (int at = 0; at < ofProcess.length; at += CollectiveDriver.UNIQUE_ID_BYTES) {
                ids.add(Arrays.copyOfRange(ofProcess, at, at + CollectiveDriver.UNIQUE_ID_BYTES));
            }
        }
        return ids;
    }

    private String line(Gpu gpu, int color) {
        return String.join(
                SEPARATOR,
                host,
                Long.toString(ProcessHandle.current().pid()),
                Integer.toString(gpu.ordinal()),
                gpu.pciAddress(),
                Long.toString(gpu.memoryBytes()),
                Integer.toString(color),
                gpu.name());
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
    }

    /** Runs all ranks of this process, and waits for their end. */
    public Outcome run(Devices devices, RowListener listener) {
        Team team = new Team(plan.localRanks(), exchange);
        Groups groups = devices.groups();
        if (groups.refused(plan.collective()).isPresent()) {
            return new Outcome.Done(0, new MemoryUse(0, 0, 0));
        }
        int policy = plan.switches().ctaPolicy();
        List<Rank> ranks = new ArrayList<>();
        for (int local = 0; local < plan.localRanks(); local++) {
            int rank = process * plan.localRanks() + local;
            Member member = new Member(
                    devices.mine().get(local),
                    groups.rank(rank),
                    groups.ranks(rank),
                    devices.ids().get(groups.group(rank)),
                    plan.joining(),
                    plan.switches().defaultStream(),
                    policy < 0 ? OptionalInt.empty() : OptionalInt.of(policy),
                    new AbortSignal());
            ranks.add(new Rank(devices.plan(), member, local, team, local == 0 ? listener : SILENT));
        }
        Ranks.Outcome outcome = new Ranks(ranks, team).run(driver);
        Optional<Rank.Result> result = outcome.result();
        return result.isPresent()
                ? new Outcome.Done(result.get().outOfBounds(), result.get().memory())
                : new Outcome.Failed(
                        outcome.failure().orElseGet(() -> new Failure(Verdict.INTERNAL, "the run was interrupted")));
    }

    private static final RowListener SILENT = new RowListener() {
        @Override
        public void started(Series series, long bytes, long count) {}

        @Override
        public void measured(Row.Half half) {}

        @Override
        public void ended(Row row) {}
    };
}
