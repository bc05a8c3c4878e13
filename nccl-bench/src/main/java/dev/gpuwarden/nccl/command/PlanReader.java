package dev.gpuwarden.nccl.command;

import dev.gpuwarden.core.port.CollectiveDriver;
import dev.gpuwarden.core.port.CollectiveException;
import dev.gpuwarden.core.port.CollectiveException.Kind;
import dev.gpuwarden.core.port.ElementType;
import dev.gpuwarden.nccl.plan.Averaging;
import dev.gpuwarden.nccl.plan.Collective;
import dev.gpuwarden.nccl.plan.MessageSizes;
import dev.gpuwarden.nccl.plan.Operator;
import dev.gpuwarden.nccl.plan.Plan;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/** The plan that options state. Pure. An {@link IllegalArgumentException} has the mistake in words. */
record PlanReader(BenchOptions options) {

    /** Bound on ranks of a process, above any machine. */
    private static final int MOST_LOCAL = 1024;

    /** Bound on counts of iterations; their product still fits into an int. */
    private static final int MOST_ITERATIONS = 1_000_000;

    private static final int MOST_AGGREGATED = 1000;

    /** Bound on the offset of buffers, which costs 8 bytes for each element. */
    private static final int MOST_OFFSET = 1 << 20;

    /** The first architecture with FP8. */
    private static final int FP8_CAPABILITY = 90;

    /** The first versions with each kind of registration, from -R 1 on, and with each CTA policy, from -x 0 on. */
    private static final List<Integer> REGISTRATIONS = List.of(21900, 22700);

    private static final List<Integer> POLICIES = List.of(22700, 22700, 22800);

    /** Throws where the plan requires something that is not implemented. */
    void checkImplemented() throws CollectiveException {
        if (options.deviceKernel != 0) {
            throw new CollectiveException(
                    Kind.NOT_SUPPORTED,
                    0,
                    "-D " + options.deviceKernel + " is not implemented: kernels that communicate by themselves are"
                            + " compiled from the headers of one version of NCCL, and gpuwarden compiles none at run"
                            + " time; use -D 0");
        }
    }

    /**
     * @param version of the library: types that it lacks are not among all types
     * @param capability compute capability of the oldest GPU
     */
    Plan plan(int version, int capability) {
        Collective collective = Collective.of(options.collective)
                .orElseThrow(() -> new IllegalArgumentException("no collective '" + options.collective + "'"));
        within("-t", options.threads, 1, MOST_LOCAL);
        within("-g", options.gpus, 1, MOST_LOCAL / options.threads);
        within("-n", options.iterations, 1, MOST_ITERATIONS);
        within("-m", options.aggregated, 1, MOST_AGGREGATED);
        within("-w", options.warmUps, 0, MOST_ITERATIONS);
        within("-N", options.cycles, 0, Integer.MAX_VALUE);
        within("-c", options.checks, 0, MOST_ITERATIONS);
        within("-z", options.blocking, 0, 3);
        within("-T", options.timeout, 0, Integer.MAX_VALUE);
        within("-R", options.register, 0, 2);
        within("-K", options.skipped, 0, options.iterations - 1);
        within("-r", options.root, -1, Integer.MAX_VALUE);
        within("-x", options.ctaPolicy, -1, POLICIES.size() - 1);
        if (options.register > 0) {
            need("-R " + options.register, REGISTRATIONS.get(options.register - 1), version);
        }
        if (options.ctaPolicy >= 0) {
            need("-x " + options.ctaPolicy, POLICIES.get(options.ctaPolicy), version);
        }
        return new Plan(
                collective,
                options.threads,
                options.gpus,
                sizes(),
                operators(),
                types(version, capability),
                options.root,
                options.iterations,
                options.warmUps,
                options.aggregated,
                options.cycles,
                options.checks,
                options.blocking,
                Averaging.values()[within("-a", options.averaging, 0, 3)],
                within("-u", options.unalign, 0, MOST_OFFSET),
                graphs(),
                Duration.ofSeconds(options.timeout),
                options.timeout > 0 ? least(options.joining, Duration.ofSeconds(options.timeout)) : options.joining,
                new Plan.Switches(
                        isOn("-y", options.defaultStream),
                        isOn("-C", options.processorTime),
                        isOn("-S", options.timestamps),
                        options.register,
                        options.ctaPolicy,
                        isOn("-M", options.memoryReport),
                        isOn("-p", options.parallelInit),
                        isOn("-I", options.perIteration),
                        options.skipped));
    }

    private static void need(String option, int oldest, int version) {
        if (version < oldest) {
            throw new IllegalArgumentException(
                    option + " needs NCCL " + CollectiveDriver.versionText(oldest) + " or newer, and this is "
                            + CollectiveDriver.versionText(version) + "; --nccl.library-path names another library");
        }
    }

    private int graphs() {
        int graphs = within("-G", options.graphs, 0, MOST_ITERATIONS);
        if (graphs > 0) {
            exclude(options.blocking > 0, "-z", "a wait is not permitted while a graph is captured");
            exclude(options.defaultStream > 0, "-y 1", "CUDA does not capture the default stream");
            exclude(options.perIteration > 0, "-I 1", "events in a graph have no time");
        }
        return graphs;
    }

    private static void exclude(boolean used, String option, String why) {
        if (used) {
            throw new IllegalArgumentException("-G and " + option + " exclude each other: " + why);
        }
    }

    private static Duration least(Duration one, Duration other) {
        return one.compareTo(other) < 0 ? one : other;
    }

    private MessageSizes sizes() {
        MessageSizes sizes = new MessageSizes(
                size("minbytes", options.minBytes),
                size("maxbytes", options.maxBytes),
                size("stepbytes", options.stepBytes),
                options.stepFactor);
        if (sizes.least() > sizes.most()) {
            throw new IllegalArgumentException(
                    "invalid sizes for 'minbytes' and 'maxbytes': " + sizes.least() + " > " + sizes.most());
        }
        // It refuses too many.
        sizes.all();
        return sizes;
    }

    private static long size(String name, String text) {
        return MessageSizes.parse(text)
                .orElseThrow(() -> new IllegalArgumentException("invalid size specified for '" + name + "': " + text));
    }

    private List<Operator> operators() {
        return options.operator.equals("all")
                ? Operator.choices().toList()
                : List.of(Operator.of(options.operator)
                        .orElseThrow(() -> new IllegalArgumentException("no operator '" + options.operator + "'")));
    }

    private List<ElementType> types(int version, int capability) {
        if (options.type.equals("all")) {
            return Stream.of(ElementType.values())
                    .filter(type -> type.since() <= version)
                    .filter(type -> type.since() < ElementType.F8E4M3.since() || capability >= FP8_CAPABILITY)
                    .toList();
        }
        ElementType type = ElementType.of(options.type)
                .orElseThrow(() -> new IllegalArgumentException("no type '" + options.type + "'"));
        if (type.since() > version) {
            throw new IllegalArgumentException(
                    "type " + options.type + " needs NCCL " + type.since() + ", and this is " + version);
        }
        return List.of(type);
    }

    private static boolean isOn(String name, int value) {
        return within(name, value, 0, 1) == 1;
    }

    private static int within(String name, int value, int least, int most) {
        if (value < least || value > most) {
            throw new IllegalArgumentException(
                    name + " must be between " + least + " and " + most + ", but was " + value);
        }
        return value;
    }
}
