package dev.gpuwarden.nccl.group;

import dev.gpuwarden.nccl.group.Place.Meeting;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** Places that launchers of parallel programs set in the environment. */
final class Launchers {

    private Launchers() {}

    static Optional<Place> place(Optional<String> meeting, Map<String, String> environment) {
        return Stream.of(openMpi(meeting, environment), torchrun(meeting, environment), slurm(meeting, environment))
                .flatMap(Optional::stream)
                .findFirst();
    }

    /** Open MPI's mpirun states no address of rank 0, so that it suffices for processes of one node alone. */
    private static Optional<Place> openMpi(Optional<String> meeting, Map<String, String> environment) {
        return place(meeting, environment, "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", () -> {
            String local = environment.getOrDefault("OMPI_COMM_WORLD_LOCAL_SIZE", "");
            if (!local.equals(environment.get("OMPI_COMM_WORLD_SIZE"))) {
                throw new IllegalArgumentException(
                        "mpirun on several nodes needs --rendezvous HOST:PORT, a free port" + " on the host of rank 0");
            }
            String job =
                    environment.getOrDefault("PMIX_NAMESPACE", environment.getOrDefault("OMPI_MCA_ess_base_jobid", ""));
            return new Meeting("127.0.0.1", Place.derivedPort(job));
        });
    }

    /** A port beside the one that torchrun's own store may use. */
    private static Optional<Place> torchrun(Optional<String> meeting, Map<String, String> environment) {
        return place(meeting, environment, "RANK", "WORLD_SIZE", () -> {
            Optional<Integer> port = Place.number(environment.getOrDefault("MASTER_PORT", ""));
            String host = environment.getOrDefault("MASTER_ADDR", "");
            if (host.isEmpty() || port.isEmpty()) {
                throw new IllegalArgumentException("RANK and WORLD_SIZE are set, but MASTER_ADDR and MASTER_PORT are"
                        + " not: torchrun sets all four, or --rendezvous HOST:PORT replaces the last two");
            }
            boolean used = Boolean.parseBoolean(environment.getOrDefault("TORCHELASTIC_USE_AGENT_STORE", "false"));
            return new Meeting(host, used ? port.get() + 1 : port.get());
        });
    }

    /** Only processes that srun started: a batch script has the variables of its whole job. */
    private static Optional<Place> slurm(Optional<String> meeting, Map<String, String> environment) {
        String count = environment.containsKey("SLURM_STEP_NUM_TASKS") ? "SLURM_STEP_NUM_TASKS" : "SLURM_NTASKS";
        return place(meeting, environment, "SLURM_PROCID", count, () -> {
            String nodes =
                    environment.getOrDefault("SLURM_STEP_NODELIST", environment.getOrDefault("SLURM_JOB_NODELIST", ""));
            if (nodes.isEmpty()) {
                throw new IllegalArgumentException(
                        "SLURM_PROCID is set, but no list of nodes: --rendezvous HOST:PORT is needed");
            }
            String job =
                    environment.getOrDefault("SLURM_JOB_ID", "") + "." + environment.getOrDefault("SLURM_STEP_ID", "");
            return new Meeting(firstNode(nodes), Place.derivedPort(job));
        });
    }

    private static Optional<Place> place(
            Optional<String> meeting,
            Map<String, String> environment,
            String process,
            String processes,
            java.util.function.Supplier<Meeting> otherwise) {
        Optional<Integer> rank = Place.number(environment.getOrDefault(process, ""));
        Optional<Integer> ranks = Place.number(environment.getOrDefault(processes, ""));
        return rank.isEmpty() || ranks.isEmpty()
                ? Optional.empty()
                : Optional.of(Place.checked(rank.get(), ranks.get(), meeting, otherwise));
    }

    /** Returns the first node of a list such as {@code gpu[001-004,7],login1}. */
    static String firstNode(String nodes) {
        int bracket = nodes.indexOf('[');
        int comma = nodes.indexOf(',');
        if (bracket < 0 || comma >= 0 && comma < bracket) {
            return comma < 0 ? nodes : nodes.substring(0, comma);
        }
        String first = nodes.substring(bracket + 1).split("[-,\\]]", 2)[0];
        int end = nodes.indexOf(']', bracket);
        String rest = end < 0 ? "" : nodes.substring(end + 1).split(",", 2)[0];
        return nodes.substring(0, bracket) + first + rest;
    }
}
