package dev.gpuwarden.nccl.run;

import dev.gpuwarden.nccl.group.Team;
import dev.gpuwarden.nccl.plan.Plan;
import dev.gpuwarden.nccl.report.Row.IterationTimes;
import java.util.ArrayList;
import java.util.List;
import java.util.function.DoubleBinaryOperator;
import java.util.stream.DoubleStream;

/** Numbers of all ranks as one. nccl-tests has one number for each of its threads, which has the GPUs of `-g`. */
record TimesOfRanks(Plan plan, Team team, int localRank) {

    /** Returns the time of the run: a thread is done when all its GPUs are. */
    double combined(double mine) throws Team.Left {
        return plan.averaging().of(ofThreads(mine, Math::max));
    }

    double most(double mine) throws Team.Left {
        return DoubleStream.of(team.gather(localRank, mine)).max().orElseThrow();
    }

    /** Returns a number for each thread of all processes. */
    List<Double> ofThreads(double mine, DoubleBinaryOperator combine) throws Team.Left {
        return inGroups(team.gather(localRank, mine), plan.gpus(), combine);
    }

    private static List<Double> inGroups(double[] numbers, int size, DoubleBinaryOperator combine) {
        List<Double> groups = new ArrayList<>();
        for (int from = 0; from < numbers.length; from += size) {
            groups.add(DoubleStream.of(numbers)
                    .skip(from)
                    .limit(size)
                    .reduce(combine)
                    .orElseThrow());
        }
        return groups;
    }

    IterationTimes iterations(List<Double> mine) throws Team.Left {
        List<Double> all = new ArrayList<>();
        List<List<Double>> processes = new ArrayList<>();
        for (double seconds : mine) {
            List<Double> each = inGroups(team.gather(localRank, seconds), plan.localRanks(), Math::max);
            all.add(each.stream().mapToDouble(one -> one).max().orElseThrow());
            for (int process = 0; process < each.size(); process++) {
                if (processes.size() <= process) {
                    processes.add(new ArrayList<>());
                }
                processes.get(process).add(each.get(process));
            }
        }
        return new IterationTimes(all, plan.switches().skipped(), processes.size() > 1 ? processes : List.of());
    }
}
