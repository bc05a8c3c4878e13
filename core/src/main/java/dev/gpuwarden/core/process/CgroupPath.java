package dev.gpuwarden.core.process;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The owner of a process by `/proc/PID/cgroup`, of cgroup v1, v2 and both together.
 *
 * <p>The text is untrusted: a user who may create cgroups can name them like another user's pod. Ancestors are made by
 * kubelet, container engine or systemd, so the first meaningful name decides, never the last. A cgroup of a plain
 * container that looks like a pod's counts as a pod: nodes in containers (kind) have such paths.
 *
 * @param path the deciding path, as the kernel wrote it; empty where there was none
 */
public record CgroupPath(String path, Owner owner) {

    private static final String UID =
            "([0-9a-f]{8}[-_][0-9a-f]{4}[-_][0-9a-f]{4}[-_][0-9a-f]{4}[-_][0-9a-f]{12}|[0-9a-f]{32})";
    /** systemd driver: each slice repeats its parents' names; nested kubelets put their own slice in front. */
    private static final Pattern POD_SLICE = Pattern.compile(
            "(?:[A-Za-z0-9_.]+-){0,8}kubepods(?:-burstable|-besteffort|-guaranteed)?-pod" + UID + "\\.slice");
    /** cgroupfs driver. */
    private static final Pattern POD_FOLDER = Pattern.compile("pod" + UID);
    /** containerd's shim, where it took the path of the systemd driver for a cgroupfs one: slice:prefix:id. */
    private static final Pattern POD_TRIPLE =
            Pattern.compile("(?:[A-Za-z0-9_.]+-){0,8}kubepods(?:-burstable|-besteffort|-guaranteed)?-pod" + UID
                    + "\\.slice:([a-z0-9-]{1,32}):([0-9a-f]{64})");

    private static final Pattern CONTAINER = Pattern.compile("(?:([a-z][a-z-]{0,30})-)?([0-9a-f]{64})(?:\\.scope)?");
    /** A Podman container in the cgroup of the unit that runs it. Only systemd can restart it, so the unit is its owner. */
    private static final String SPLIT = "libpod-payload";

    private static final Pattern JOB = Pattern.compile("job_([0-9]{1,20})");
    private static final Pattern STEP = Pattern.compile("step_([0-9]{1,20}|batch|extern|interactive)");
    private static final int MAX_NAME = 255; // a cgroup is a folder: NAME_MAX of Linux

    /**
     * Returns the owner.
     *
     * @param text the whole file; may be cut off
     */
    public static CgroupPath parse(String text) {
        CgroupPath best = new CgroupPath("", new Owner.Unknown("no cgroup"));
        int bestRank = -1;
        for (String line : text.split("\n")) {
            String[] fields = line.split(":", 3);
            if (fields.length < 3 || !fields[2].startsWith("/")) {
                continue;
            }
            Owner owner = owner(fields[2]);
            int rank = 10 * rank(owner) + preference(fields[1]);
            if (rank > bestRank) {
                bestRank = rank;
                best = new CgroupPath(fields[2], owner);
            }
        }
        return best;
    }

    private static int rank(Owner owner) {
        if (owner instanceof Owner.Pod) {
            return 4;
        }
        if (owner instanceof Owner.Container) {
            return 3;
        }
        if (owner instanceof Owner.SlurmJob) {
            return 2;
        }
        return owner instanceof Owner.Unit ? 1 : 0;
    }

    /** Returns the rank of a hierarchy: those with every process come before those that only some managers use. */
    private static int preference(String controllers) {
        return switch (controllers) {
            case "" -> 4;
            case "name=systemd" -> 3;
            case "memory" -> 2;
            case "pids" -> 1;
            default -> 0;
        };
    }

    private static Owner owner(String path) {
        String live = path.endsWith(" (deleted)") ? path.substring(0, path.length() - " (deleted)".length()) : path;
        List<String> names = List.of(live.substring(1).split("/", -1));
        boolean relative = names.get(0).equals("..");
        boolean kube = relative;
        boolean slurm = false;
        String unit = "";
        Owner container = null;
        for (int i = 0; i < names.size(); i++) {
            String name = names.get(i);
            if (name.length() > MAX_NAME || name.equals("..")) {
                continue;
            }
            Owner pod = pod(names, i, kube);
            if (pod != null) {
                return pod;
            }
            kube |= name.equals("kubepods");
            if (container == null) {
                container = container(names, i, ofUser(unit));
            }
            // A user may make cgroups below the own manager and give them any name.
            Owner job = slurm && container == null && !ofUser(unit) ? job(names, i) : null;
            if (job != null) {
                return job;
            }
            slurm |= name.startsWith("slurm") || name.endsWith("slurmstepd.scope");
            unit = unit(unit, name);
        }
        if (container != null) {
            return container;
        }
        if (!unit.isEmpty()) {
            return new Owner.Unit(unit);
        }
        return new Owner.Unknown(live.equals("/") ? "in the root cgroup" : "its cgroup names no owner");
    }

    private static @Nullable Owner pod(List<String> names, int at, boolean kube) {
        String name = names.get(at);
        Matcher triple = POD_TRIPLE.matcher(name);
        if (triple.matches()) {
            return pod(triple.group(1), Reading.of(triple.group(3)));
        }
        Matcher slice = POD_SLICE.matcher(name);
        Matcher folder = POD_FOLDER.matcher(name);
        if (slice.matches()) {
            return pod(slice.group(1), containerId(names, at + 1));
        }
        return kube && folder.matches() ? pod(folder.group(1), containerId(names, at + 1)) : null;
    }

    private static Owner.Pod pod(String uid, Reading<String> containerId) {
        Reading<String> unnamed = Reading.absent(Absence.PENDING, 0, "not looked up");
        return new Owner.Pod(uid.replace('_', '-'), unnamed, unnamed, unnamed, containerId);
    }

    private static Reading<String> containerId(List<String> names, int at) {
        if (at < names.size()) {
            Matcher container = CONTAINER.matcher(names.get(at));
            if (container.matches()) {
                return Reading.of(container.group(2));
            }
        }
        return Reading.absent(Absence.NO_DATA, 0, "in the pod's own cgroup");
    }

    private static boolean ofUser(String unit) {
        return unit.startsWith("user@");
    }

    /** @param ofUser whether a user's own manager made the cgroup, or that user: its ID may be one of root's containers */
    private static @Nullable Owner container(List<String> names, int at, boolean ofUser) {
        Matcher container = CONTAINER.matcher(names.get(at));
        if (!container.matches() || SPLIT.equals(container.group(1))) {
            return null;
        }
        String before = at > 0 ? names.get(at - 1) : "";
        String label = container.group(1) == null ? before : container.group(1);
        return new Owner.Container((ofUser ? "rootless-" : "") + runtime(label), container.group(2));
    }

    private static String runtime(String label) {
        return switch (label) {
            case "docker" -> "docker";
            case "libpod", "libpod-conmon", "libpod_parent" -> "podman";
            case "crio", "crio-conmon" -> "cri-o";
            case "cri-containerd", "nerdctl", "containerd", "default", "k8s.io" -> "containerd";
            default -> "unknown";
        };
    }

    private static @Nullable Owner job(List<String> names, int at) {
        Matcher job = JOB.matcher(names.get(at));
        if (!job.matches()) {
            return null;
        }
        Matcher step = STEP.matcher(at + 1 < names.size() ? names.get(at + 1) : "");
        return new Owner.SlurmJob(job.group(1), step.matches() ? step.group(1) : "");
    }

    /**
     * Returns the unit's name. A user's own units keep the manager's name in front, so that none looks like a unit of
     * the system.
     */
    private static String unit(String soFar, String name) {
        if (!name.endsWith(".service") && !name.endsWith(".scope")) {
            return soFar;
        }
        if (soFar.isEmpty()) {
            return name;
        }
        return ofUser(soFar) && soFar.indexOf('/') < 0 ? soFar + "/" + name : soFar;
    }
}
