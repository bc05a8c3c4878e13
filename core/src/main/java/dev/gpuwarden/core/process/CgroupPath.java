package dev.gpuwarden.core.process;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The owner of a process by `/proc/PID/cgroup`, of cgroup v1, v2 and both together.
 *
 * <p>The text is untrusted: a user who may create cgroups can name them like another user's pod. {@link CgroupWalk} has the
 * rule that holds against it.
 *
 * @param path the deciding path, as the kernel wrote it; empty where there was none
 */
public record CgroupPath(String path, Owner owner) {

    private static final String DELETED = " (deleted)";

    /** Returns the owner on a node that is no container itself. */
    public static CgroupPath parse(String text) {
        return parse(text, NodeRoot.NONE);
    }

    /**
     * Returns the owner.
     *
     * @param text the whole file; may be cut off
     * @param root where the cgroups of this node begin
     */
    public static CgroupPath parse(String text, NodeRoot root) {
        CgroupPath best = new CgroupPath("", new Owner.Unknown("no cgroup"));
        int bestRank = -1;
        for (Line line : Line.of(text)) {
            Owner owner = new CgroupWalk(root.within(line)).owner();
            int rank = 10 * rank(owner) + line.preference();
            if (rank > bestRank) {
                bestRank = rank;
                best = new CgroupPath(line.path, owner);
            }
        }
        return best;
    }

    /** Returns the rank of an owner among hierarchies. A guest counts in any of them: no hierarchy within it names an owner. */
    private static int rank(Owner owner) {
        if (owner instanceof Owner.Guest) {
            return 5;
        } else if (owner instanceof Owner.Pod) {
            return 4;
        } else if (owner instanceof Owner.Container) {
            return 3;
        } else if (owner instanceof Owner.SlurmJob || owner instanceof Owner.BatchJob) {
            return 2;
        }
        return owner instanceof Owner.Unit ? 1 : 0;
    }

    private record Line(String controllers, String path) {

        static List<Line> of(String text) {
            // A name may contain any other line separator: String.lines() would take its rest for a line of the kernel.
            return Stream.of(text.split("\n"))
                    .map(line -> line.split(":", 3))
                    .filter(fields -> fields.length == 3 && fields[2].startsWith("/"))
                    .map(fields -> new Line(fields[1], fields[2]))
                    .toList();
        }

        /** Returns the rank of a hierarchy: those with every process come before those that only some managers use. */
        int preference() {
            return switch (controllers) {
                case "" -> 4;
                case "name=systemd" -> 3;
                case "memory" -> 2;
                case "pids" -> 1;
                default -> 0;
            };
        }

        String live() {
            return path.endsWith(DELETED) ? path.substring(0, path.length() - DELETED.length()) : path;
        }
    }

    /**
     * The cgroups in which a node begins that is a container itself, such as a node of kind without a cgroup namespace. Its kubelet's
     * pods are below them. Without it they would all belong to that container, as they do for the host.
     */
    public static final class NodeRoot {

        /** A node that is no container. */
        public static final NodeRoot NONE = new NodeRoot(Map.of());

        private final Map<String, String> folders;

        private NodeRoot(Map<String, String> folders) {
            this.folders = folders;
        }

        /**
         * Returns the root of the node that a process belongs to.
         *
         * @param own the cgroup file of a process that is trusted, such as this program
         */
        public static NodeRoot of(String own) {
            Map<String, String> folders = new HashMap<>();
            for (Line line : Line.of(own)) {
                CgroupWalk.outerContainer(line.path).ifPresent(folder -> folders.put(line.controllers, folder));
            }
            return new NodeRoot(Map.copyOf(folders));
        }

        private String within(Line line) {
            String path = line.live();
            return Optional.ofNullable(folders.get(line.controllers))
                    .filter(folder -> path.startsWith(folder + "/"))
                    .map(folder -> path.substring(folder.length()))
                    .orElse(path);
        }
    }

    static Owner.Pod pod(String uid, Reading<String> containerId) {
        Reading<String> unnamed = Reading.absent(Absence.PENDING, 0, "not looked up");
        return new Owner.Pod(uid.replace('_', '-'), unnamed, unnamed, unnamed, containerId);
    }
}
