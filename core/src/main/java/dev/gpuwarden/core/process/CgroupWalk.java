package dev.gpuwarden.core.process;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A walk along one cgroup path from the root. The first boundary decides: a pod, a container, a guest, a job or a unit. Only root, the
 * kubelet, an engine or systemd makes the names before it, and the boundary's own processes may make any name below it. So nothing
 * below a boundary is read, but for two: managers that root runs (engines, batch systems, LXC) keep their own cgroups below
 * their unit, and below the manager of a user every name is that user's.
 */
final class CgroupWalk {

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

    /** Units of container engines and of distributions of Kubernetes that contain one. Their containers may be below their own unit. */
    private static final Pattern ENGINE = Pattern.compile(
            "(?:snap\\.|[a-z0-9.-]{1,40}[.-])?(?:containerd|docker|dockerd|cri-docker|"
                    + "cri-dockerd|crio|cri-o|kubelet|kubelite|podman|k3s|k3s-agent|rke2-server|rke2-agent|k0scontroller|k0sworker)\\.service");

    private static final Pattern USER_SLICE = Pattern.compile("user|user\\.slice|user-[0-9]{1,10}\\.slice");
    private static final int MAX_NAME = 255; // a cgroup is a folder: NAME_MAX of Linux

    private final List<String> names;
    private final boolean relative;

    /** @param path begins with a slash; relative to the reader's cgroup namespace where it goes on with ".." */
    CgroupWalk(String path) {
        List<String> all = List.of(path.substring(1).split("/", -1));
        relative = all.get(0).equals("..");
        names = all.stream()
                .filter(name -> !name.isEmpty() && !name.equals("..") && name.length() <= MAX_NAME)
                .toList();
    }

    Owner owner() {
        if (names.isEmpty()) {
            return new Owner.Unknown(relative ? "its cgroup names no owner" : "in the root cgroup");
        }
        Optional<Owner> manager = ManagedCgroups.atRoot(names);
        if (manager.isPresent()) {
            return manager.get();
        }
        boolean users = false;
        boolean kube = relative;
        boolean slices = true;
        for (int i = 0; i < names.size(); i++) {
            String name = names.get(i);
            users |= USER_SLICE.matcher(name).matches() || name.startsWith("user@");
            Optional<Owner> found = contained(i, users, kube).or(() -> ManagedCgroups.guest(name));
            if (found.isPresent()) {
                return found.get();
            }
            kube |= name.equals("kubepods");
            if (isUnit(name)) {
                return users ? ofUser(i) : slices ? below(i, kube) : elsewhere(i);
            }
            slices &= name.endsWith(".slice");
        }
        return new Owner.Unknown("its cgroup names no owner");
    }

    /** Returns the cgroup of the container that a path begins with; empty for a path that begins with something else. */
    static Optional<String> outerContainer(String path) {
        List<String> names = List.of(path.substring(1).split("/", -1));
        for (int i = 0; i < names.size(); i++) {
            String name = names.get(i);
            if (name.equals("..")
                    || Stream.of(POD_SLICE, POD_FOLDER, POD_TRIPLE)
                            .anyMatch(pod -> pod.matcher(name).matches())) {
                return Optional.empty();
            }
            if (CONTAINER.matcher(name).matches()) {
                return Optional.of("/" + String.join("/", names.subList(0, i + 1)));
            }
        }
        return Optional.empty();
    }

    static boolean isUnit(String name) {
        return name.endsWith(".service") || name.endsWith(".scope");
    }

    /** Units of this node's systemd are below slices alone, so another systemd made this one: that of a guest of unknown form. */
    private Owner elsewhere(int at) {
        return new Owner.Unknown("it is a unit below " + String.join("/", names.subList(0, at))
                + ", which is not of this node's systemd");
    }

    /** Returns the owner below a unit of the system, which is the unit itself unless it is a manager. */
    private Owner below(int at, boolean kube) {
        String unit = names.get(at);
        Optional<Owner> managed = ManagedCgroups.below(unit, names.subList(at + 1, names.size()));
        if (managed.isPresent()) {
            return managed.get();
        }
        boolean pods = kube;
        for (int i = at + 1; ENGINE.matcher(unit).matches() && i < names.size(); i++) {
            Optional<Owner> found = contained(i, false, pods);
            if (found.isPresent() || isUnit(names.get(i))) {
                return found.orElse(new Owner.Unit(unit));
            }
            pods |= names.get(i).equals("kubepods");
        }
        return new Owner.Unit(unit);
    }

    /**
     * Returns the owner within the cgroups of a user. The user's own units keep the manager's name in front, so that none looks like a
     * unit of the system. A user may name a cgroup like a pod or a job; that is a name without meaning.
     */
    private Owner ofUser(int at) {
        String unit = names.get(at);
        for (int i = at + 1; unit.startsWith("user@") && i < names.size(); i++) {
            Optional<Owner> container = container(i, true);
            if (container.isPresent() || isUnit(names.get(i))) {
                return container.orElse(new Owner.Unit(unit + "/" + names.get(i)));
            }
        }
        return new Owner.Unit(unit);
    }

    private Optional<Owner> contained(int at, boolean users, boolean kube) {
        return users ? container(at, true) : pod(at, kube).or(() -> container(at, false));
    }

    private Optional<Owner> pod(int at, boolean kube) {
        String name = names.get(at);
        Matcher triple = POD_TRIPLE.matcher(name);
        if (triple.matches()) {
            return Optional.of(CgroupPath.pod(triple.group(1), Reading.of(triple.group(3))));
        }
        Matcher slice = POD_SLICE.matcher(name);
        if (slice.matches()) {
            return Optional.of(CgroupPath.pod(slice.group(1), containerId(at + 1)));
        }
        Matcher folder = POD_FOLDER.matcher(name);
        return kube && folder.matches()
                ? Optional.of(CgroupPath.pod(folder.group(1), containerId(at + 1)))
                : Optional.empty();
    }

    private Reading<String> containerId(int at) {
        if (at < names.size()) {
            Matcher container = CONTAINER.matcher(names.get(at));
            if (container.matches()) {
                return Reading.of(container.group(2));
            }
        }
        return Reading.absent(Absence.NO_DATA, 0, "in the pod's own cgroup");
    }

    /** @param ofUser whether a user's own manager made the cgroup, or that user: its ID may be one of root's containers */
    private Optional<Owner> container(int at, boolean ofUser) {
        Matcher container = CONTAINER.matcher(names.get(at));
        if (!container.matches() || SPLIT.equals(container.group(1))) {
            return Optional.empty();
        }
        String before = at > 0 ? names.get(at - 1) : "";
        String label = container.group(1) == null ? before : container.group(1);
        return Optional.of(new Owner.Container((ofUser ? "rootless-" : "") + runtime(label), container.group(2)));
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
}
