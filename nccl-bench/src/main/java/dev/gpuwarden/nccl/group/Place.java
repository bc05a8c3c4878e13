package dev.gpuwarden.nccl.group;

import java.util.Map;
import java.util.Optional;

/**
 * The place of this process among those of a run.
 *
 * @param process number of this process, from 0
 * @param processes their number
 * @param meeting the address of process 0; empty where there is only one process
 */
public record Place(int process, int processes, Optional<Meeting> meeting) {

    /** Bound on processes, far above any run. */
    static final int MOST_PROCESSES = 100_000;

    /** The first of the ports that are derived from the number of a job: below those that Linux gives to clients. */
    private static final int FIRST_PORT = 20_000;

    private static final int PORTS = 10_000;

    /** The address at which processes meet. */
    public record Meeting(String host, int port) {}

    /** The statements of the command line; absent parts are searched in the environment. */
    public record Given(Optional<String> meeting, Optional<Integer> process, Optional<Integer> processes) {}

    static Place alone() {
        return new Place(0, 1, Optional.empty());
    }

    /**
     * Returns the place that the command line states, or that mpirun, torchrun or srun have set in the environment.
     *
     * @throws IllegalArgumentException for a place that cannot be, with the remedy
     */
    public static Place of(Given given, Map<String, String> environment) {
        if (given.process().isPresent() != given.processes().isPresent()) {
            throw new IllegalArgumentException("--rank and --ranks belong together");
        }
        if (given.process().isPresent()) {
            return checked(given.process().get(), given.processes().orElseThrow(), given.meeting(), () -> {
                throw new IllegalArgumentException(
                        "--rank and --ranks need --rendezvous HOST:PORT, a free port on the host of rank 0");
            });
        }
        Optional<Place> launched = Launchers.place(given.meeting(), environment);
        if (launched.isEmpty() && given.meeting().isPresent()) {
            throw new IllegalArgumentException(
                    "--rendezvous needs --rank and --ranks, or a start by mpirun, srun or torchrun");
        }
        return launched.orElseGet(Place::alone);
    }

    /** @param otherwise where processes meet if the command line does not state it */
    static Place checked(
            int process, int processes, Optional<String> meeting, java.util.function.Supplier<Meeting> otherwise) {
        if (processes < 1 || processes > MOST_PROCESSES || process < 0 || process >= processes) {
            throw new IllegalArgumentException(
                    "rank " + process + " of " + processes + " is none: ranks are 0 to one less than their number");
        }
        return processes == 1
                ? alone()
                : new Place(
                        process,
                        processes,
                        Optional.of(meeting.map(Place::meeting).orElseGet(otherwise)));
    }

    private static Meeting meeting(String text) {
        int colon = text.lastIndexOf(':');
        String host = colon < 0 ? "" : text.substring(0, colon).replaceAll("^\\[|]$", "");
        int port = colon < 0 ? -1 : number(text.substring(colon + 1)).orElse(-1);
        if (host.isEmpty() || port < 1 || port > 65_535) {
            throw new IllegalArgumentException("--rendezvous must be HOST:PORT, but was " + text);
        }
        return new Meeting(host, port);
    }

    /** Returns the port for a job's identity, which is the same in all its processes. */
    static int derivedPort(String job) {
        return FIRST_PORT + Math.floorMod(job.hashCode(), PORTS);
    }

    static Optional<Integer> number(String text) {
        try {
            return Optional.of(Integer.parseInt(text.strip()));
        } catch (NumberFormatException e) {
            return Optional.empty();
        }
    }
}
