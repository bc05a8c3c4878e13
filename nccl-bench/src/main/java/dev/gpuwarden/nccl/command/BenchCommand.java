package dev.gpuwarden.nccl.command;

import dev.gpuwarden.cli.Version;
import dev.gpuwarden.core.port.CollectiveDriver;
import dev.gpuwarden.core.port.CollectiveDriver.Gpu;
import dev.gpuwarden.core.port.CollectiveException;
import dev.gpuwarden.core.port.CollectiveOptions;
import dev.gpuwarden.core.port.CollectiveProvider;
import dev.gpuwarden.core.port.DriverOptions;
import dev.gpuwarden.core.port.DriverOptions.SamplerPath;
import dev.gpuwarden.core.port.Opening;
import dev.gpuwarden.core.port.Opening.Opened;
import dev.gpuwarden.core.port.Opening.Reason;
import dev.gpuwarden.core.port.Opening.Unavailable;
import dev.gpuwarden.nccl.group.Exchange;
import dev.gpuwarden.nccl.group.Place;
import dev.gpuwarden.nccl.group.Rendezvous;
import dev.gpuwarden.nccl.plan.Plan;
import dev.gpuwarden.nccl.plan.Split;
import dev.gpuwarden.nccl.report.Verdict;
import dev.gpuwarden.nccl.run.Bench;
import dev.gpuwarden.nccl.run.Failure;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Measures a collective between GPUs, with the options, the table and the exit codes of nccl-tests. */
@Command(
        name = "bench",
        description = "Measure NCCL collectives between GPUs, with the options, output and exit codes of nccl-tests.",
        sortOptions = false,
        exitCodeOnInvalidInput = Verdict.USAGE,
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:done, and the data was right",
            "1:an internal failure, or another process left",
            "2:a failure of CUDA or of the GPU driver",
            "3:a failure of NCCL",
            "4:an operation took longer than -T, or joining longer than --join-timeout",
            "5:not implemented, or too few GPUs",
            "6:wrong usage",
            "7:wrong data, or a bandwidth below 0.9 of NCCL_TESTS_MIN_BW"
        })
public final class BenchCommand implements Callable<Integer> {

    private static final Path HOST_NAME = Path.of("/proc/sys/kernel/hostname");

    @Spec
    @SuppressWarnings("NullAway.Init")
    CommandSpec spec;

    @Mixin
    final BenchOptions options = new BenchOptions();

    private final Supplier<CollectiveProvider> provider;
    private final Map<String, String> environment;
    private final Clock clock;

    BenchCommand(Supplier<CollectiveProvider> provider, Map<String, String> environment, Clock clock) {
        this.provider = provider;
        this.environment = environment;
        this.clock = clock;
    }

    @Override
    public Integer call() {
        PlanReader reader = new PlanReader(options);
        try {
            // Mistakes are reported before the library is loaded, so with a version that has everything.
            reader.plan(Integer.MAX_VALUE, Integer.MAX_VALUE);
            Place place = Place.of(options.place(), environment);
            OptionalInt firstGpu = number("NCCL_TESTS_DEVICE");
            OptionalDouble required = bandwidth("NCCL_TESTS_MIN_BW");
            Optional<Split> split = Split.of(environment);
            reader.checkImplemented();
            return measure(reader, place, split, firstGpu, required);
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), e.getMessage());
        } catch (CollectiveException e) {
            return complain(Failure.of(e));
        } catch (Rendezvous.LateException e) {
            return complain(new Failure(Verdict.TIMEOUT, String.valueOf(e.getMessage())));
        } catch (IOException e) {
            return complain(new Failure(Verdict.INTERNAL, String.valueOf(e.getMessage())));
        }
    }

    private int measure(
            PlanReader reader, Place place, Optional<Split> split, OptionalInt firstGpu, OptionalDouble required)
            throws CollectiveException, IOException {
        Opening<CollectiveDriver> opening = provider.get()
                .open(new CollectiveOptions(
                        options.ncclPaths, new DriverOptions(options.driverPaths, SamplerPath.AUTO)));
        if (opening instanceof Unavailable<CollectiveDriver> missing) {
            return complain(unavailable(missing));
        }
        CollectiveDriver driver = ((Opened<CollectiveDriver>) opening).driver();
        int capability =
                driver.gpus().stream().mapToInt(Gpu::computeCapability).min().orElse(0);
        Plan plan = reader.plan(driver.version(), capability);
        try (Exchange exchange = Rendezvous.join(place, plan.joining())) {
            PrintWriter out =
                    place.process() == 0 ? spec.commandLine().getOut() : new PrintWriter(java.io.Writer.nullWriter());
            Bench bench = new Bench(plan, split, driver, exchange, place.process(), place.processes(), host());
            Report report = new Report(out, clock, place.process() == 0 ? options : new BenchOptions());
            return report.run(bench, firstGpu, driver.version(), required, Version.program(), arguments(), environment)
                    .map(this::complain)
                    .orElseGet(report::exitCode);
        }
    }

    private List<String> arguments() {
        return spec.commandLine().getParseResult().originalArgs();
    }

    /** Returns the reason for a missing library, with the remedy. */
    private static Failure unavailable(Unavailable<?> missing) {
        boolean nccl = missing.detail().contains("libnccl");
        String remedy = nccl
                ? "install NCCL (libnccl2 of NVIDIA's packages, or pip install nvidia-nccl-cu12), or name its folder with"
                        + " --nccl.library-path"
                : missing.reason() == Reason.LIBRARY_MISSING
                        ? "install NVIDIA's driver, or name the folder of libcuda.so.1 with --driver.library-path"
                        : "gpuwarden doctor examines the driver";
        return new Failure(nccl ? Verdict.COLLECTIVES : Verdict.COMPUTE, missing.detail() + "\n" + remedy);
    }

    private int complain(Failure failure) {
        PrintWriter err = spec.commandLine().getErr();
        failure.message().lines().forEach(line -> err.println("gpuwarden: " + line));
        err.flush();
        return failure.exitCode();
    }

    private OptionalInt number(String variable) {
        Optional<String> text = Optional.ofNullable(environment.get(variable));
        if (text.isEmpty()) {
            return OptionalInt.empty();
        }
        try {
            return OptionalInt.of(Integer.parseUnsignedInt(text.get().strip()));
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(variable + " must be a number, but was " + text.get());
        }
    }

    private OptionalDouble bandwidth(String variable) {
        Optional<String> text = Optional.ofNullable(environment.get(variable));
        if (text.isEmpty()) {
            return OptionalDouble.empty();
        }
        try {
            return OptionalDouble.of(Double.parseDouble(text.get().strip()));
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(variable + " must be gigabytes a second, but was " + text.get());
        }
    }

    /** Returns the name of this machine up to its first dot. */
    private static String host() throws IOException {
        String name = Files.readString(HOST_NAME).strip();
        int dot = name.indexOf('.');
        return dot < 0 ? name : name.substring(0, dot);
    }
}
