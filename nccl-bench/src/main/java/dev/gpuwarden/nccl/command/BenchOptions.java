package dev.gpuwarden.nccl.command;

import dev.gpuwarden.nccl.group.Place;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The options of nccl-tests, and a few more. Only their long names are gpuwarden's where nccl-tests has none. */
final class BenchOptions {

    @Parameters(
            index = "0",
            paramLabel = "COLLECTIVE",
            description =
                    "all_reduce, all_gather, reduce_scatter, broadcast, reduce, alltoall, sendrecv, gather, scatter or"
                            + " hypercube; the names of nccl-tests' programs (all_reduce_perf) are accepted too.")
    String collective = "";

    @Option(
            names = {"-t", "--nthreads"},
            defaultValue = "1",
            paramLabel = "N",
            description = "Threads of this process (default: ${DEFAULT-VALUE}).")
    int threads = 1;

    @Option(
            names = {"-g", "--ngpus"},
            defaultValue = "1",
            paramLabel = "N",
            description = "GPUs of each thread; each GPU is one rank (default: ${DEFAULT-VALUE}).")
    int gpus = 1;

    @Option(
            names = {"-b", "--minbytes"},
            defaultValue = "32M",
            paramLabel = "SIZE",
            description =
                    "Smallest message: a number with K, M or G, which are powers of 1024 (default: ${DEFAULT-VALUE}).")
    String minBytes = "32M";

    @Option(
            names = {"-e", "--maxbytes"},
            defaultValue = "32M",
            paramLabel = "SIZE",
            description = "Largest message (default: ${DEFAULT-VALUE}).")
    String maxBytes = "32M";

    @Option(
            names = {"-i", "--stepbytes"},
            defaultValue = "1M",
            paramLabel = "SIZE",
            description = "Distance of two sizes (default: ${DEFAULT-VALUE}).")
    String stepBytes = "1M";

    @Option(
            names = {"-f", "--stepfactor"},
            defaultValue = "1",
            paramLabel = "N",
            description = "Ratio of two sizes; above 1 it replaces -i (default: ${DEFAULT-VALUE}).")
    long stepFactor = 1;

    @Option(
            names = {"-n", "--iters"},
            defaultValue = "20",
            paramLabel = "N",
            description = "Measured iterations (default: ${DEFAULT-VALUE}).")
    int iterations = 20;

    @Option(
            names = {"-m", "--agg_iters"},
            defaultValue = "1",
            paramLabel = "N",
            description = "Operations in each iteration, in one group (default: ${DEFAULT-VALUE}).")
    int aggregated = 1;

    @Option(
            names = {"-w", "--warmup_iters"},
            defaultValue = "1",
            paramLabel = "N",
            description = "Iterations of each warm-up (default: ${DEFAULT-VALUE}).")
    int warmUps = 1;

    @Option(
            names = {"-N", "--run_cycles"},
            defaultValue = "1",
            paramLabel = "N",
            description = "Repetitions of all rows; 0 without limit (default: ${DEFAULT-VALUE}).")
    int cycles = 1;

    @Option(
            names = {"-p", "--parallel_init"},
            defaultValue = "0",
            paramLabel = "0|1",
            description = "Accepted; ranks are initialised in parallel in any case (default: ${DEFAULT-VALUE}).")
    int parallelInit = 0;

    @Option(
            names = {"-c", "--check"},
            defaultValue = "1",
            paramLabel = "N",
            description = "Checks of the data after each measurement; 0 for none (default: ${DEFAULT-VALUE}).")
    int checks = 1;

    @Option(
            names = {"-o", "--op"},
            defaultValue = "sum",
            paramLabel = "OPERATOR",
            description = "sum, prod, min, max, avg, mulsum or all (default: ${DEFAULT-VALUE}).")
    String operator = "sum";

    @Option(
            names = {"-d", "--datatype"},
            defaultValue = "float",
            paramLabel = "TYPE",
            description =
                    "Type of elements, such as int8, half, float, bfloat16 or f8e4m3; or all (default: ${DEFAULT-VALUE}).")
    String type = "float";

    @Option(
            names = {"-r", "--root"},
            defaultValue = "0",
            paramLabel = "RANK",
            description =
                    "Root of broadcast, reduce, gather and scatter; -1 for each rank in turn (default: ${DEFAULT-VALUE}).")
    int root = 0;

    @Option(
            names = {"-z", "--blocking"},
            defaultValue = "0",
            paramLabel = "0|1|2|3",
            description =
                    "1 waits and synchronises all ranks after each operation, 2 waits alone, 3 does both after each iteration and does not measure the second (default: ${DEFAULT-VALUE}).")
    int blocking = 0;

    @Option(
            names = {"-y", "--stream_null"},
            defaultValue = "0",
            paramLabel = "0|1",
            description = "1 uses the default stream of each GPU (default: ${DEFAULT-VALUE}).")
    int defaultStream = 0;

    @Option(
            names = {"-T", "--timeout"},
            defaultValue = "0",
            paramLabel = "SECONDS",
            description = "Limit of each wait; after it the exit code is 4. 0 for none (default: ${DEFAULT-VALUE}).")
    int timeout = 0;

    @Option(
            names = {"-G", "--cudagraph"},
            defaultValue = "0",
            paramLabel = "N",
            description =
                    "Capture the iterations in a CUDA graph, and launch it so many times; 0 for no graph (default: ${DEFAULT-VALUE}).")
    int graphs = 0;

    @Option(
            names = {"-C", "--report_cputime"},
            defaultValue = "0",
            paramLabel = "0|1",
            description = "1 shows the time for enqueueing (default: ${DEFAULT-VALUE}).")
    int processorTime = 0;

    @Option(
            names = {"-S", "--report_timestamps"},
            defaultValue = "0",
            paramLabel = "0|1",
            description = "1 ends each row with its time (default: ${DEFAULT-VALUE}).")
    int timestamps = 0;

    @Option(
            names = {"-a", "--average"},
            defaultValue = "1",
            paramLabel = "0|1|2|3",
            description =
                    "Time of a row: that of rank 0, the average, the least or the most (default: ${DEFAULT-VALUE}).")
    int averaging = 1;

    @Option(
            names = {"-R", "--local_register"},
            defaultValue = "0",
            paramLabel = "0|1|2",
            description =
                    "1 registers buffers with the library, 2 as symmetric windows, from NCCL 2.27 on (default: ${DEFAULT-VALUE}).")
    int register = 0;

    @Option(
            names = {"-M", "--memory_report"},
            defaultValue = "0",
            paramLabel = "0|1",
            description = "1 shows the memory of the GPU that used most (default: ${DEFAULT-VALUE}).")
    int memoryReport = 0;

    @Option(
            names = {"-I", "--per_iter_timing"},
            defaultValue = "0",
            paramLabel = "0|1",
            description = "1 shows statistics of single iterations, by the GPU's clock (default: ${DEFAULT-VALUE}).")
    int perIteration = 0;

    @Option(
            names = {"-K", "--per_iter_skip"},
            defaultValue = "0",
            paramLabel = "N",
            description = "First iterations that these statistics leave out (default: ${DEFAULT-VALUE}).")
    int skipped = 0;

    @Option(
            names = {"-u", "--unalign"},
            defaultValue = "0",
            paramLabel = "N",
            description =
                    "Elements before the first one of each buffer, against alignment (default: ${DEFAULT-VALUE}).")
    int unalign = 0;

    @Option(
            names = {"-x", "--cta_policy"},
            defaultValue = "-1",
            paramLabel = "0|1|2",
            description =
                    "CTA policy of the library: 0 default, 1 efficiency, from NCCL 2.27 on, 2 zero, from 2.28 on; -1 states none (default: ${DEFAULT-VALUE}).")
    int ctaPolicy = -1;

    @Option(
            names = {"-D", "--device_implementation"},
            defaultValue = "0",
            paramLabel = "N",
            description = "Not implemented: only 0 is accepted (default: ${DEFAULT-VALUE}).")
    int deviceKernel = 0;

    @Option(
            names = {"-V", "--device_cta_count"},
            defaultValue = "16",
            paramLabel = "N",
            description = "Accepted, and unused without -D (default: ${DEFAULT-VALUE}).")
    int deviceBlocks = 16;

    @Option(
            names = {"-J", "--output_file"},
            paramLabel = "FILE",
            description =
                    "Write the results as JSON, with the keys of nccl-tests. It contains only NCCL_* and CUDA_* of the environment."
                            + " An existing file is kept, and a number is appended to the name.")
    @Nullable Path json;

    @Option(
            names = "--svg",
            paramLabel = "FILE",
            description = "Write a picture of bus bandwidth against message size.")
    @Nullable Path picture;

    @Option(
            names = "--rendezvous",
            paramLabel = "HOST:PORT",
            description =
                    "Address at which rank 0 listens for the other processes; needs --rank and --ranks, or a start by mpirun, srun or"
                            + " torchrun.")
    @Nullable String rendezvous;

    @Option(
            names = "--rank",
            paramLabel = "N",
            description = "Number of this process, from 0 (default: as mpirun, srun or torchrun set it).")
    @Nullable Integer process;

    @Option(names = "--ranks", paramLabel = "N", description = "Number of processes (default: likewise).")
    @Nullable Integer processes;

    @Option(
            names = "--join-timeout",
            defaultValue = "5m",
            paramLabel = "DURATION",
            description =
                    "Limit of the wait for all processes, and of the initialisation of NCCL (default: ${DEFAULT-VALUE}).")
    Duration joining = Duration.ofMinutes(5);

    @Option(
            names = "--nccl.library-path",
            split = ",",
            paramLabel = "PATH",
            description = "NCCL library, or folder of it, to try before the loader's own search; may be repeated.")
    List<String> ncclPaths = List.of();

    @Option(
            names = "--driver.library-path",
            split = ",",
            paramLabel = "PATH",
            description =
                    "Driver library, or folder of it, to try before the loader's own search;" + " may be repeated.")
    List<String> driverPaths = List.of();

    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "Show this help message and exit.")
    boolean help;

    Place.Given place() {
        return new Place.Given(
                Optional.ofNullable(rendezvous), Optional.ofNullable(process), Optional.ofNullable(processes));
    }
}
