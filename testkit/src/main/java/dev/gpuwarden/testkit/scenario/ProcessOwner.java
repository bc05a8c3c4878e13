package dev.gpuwarden.testkit.scenario;

import dev.gpuwarden.core.util.Sha256;
import dev.gpuwarden.testkit.scenario.YamlNode.Fields;
import java.util.List;
import java.util.regex.Pattern;

/** The owner of a process, as /proc/PID/cgroup shows it. */
public sealed interface ProcessOwner {

    /** Returns a short description for tables. */
    default String text() {
        if (this instanceof Pod pod) {
            return "pod " + pod.namespace() + "/" + pod.name() + " container " + pod.container();
        } else if (this instanceof Container container) {
            return container.runtime().name().toLowerCase(java.util.Locale.ROOT) + " container "
                    + container.containerId().substring(0, 12);
        } else if (this instanceof Unit unit) {
            return "unit " + unit.name();
        } else if (this instanceof SlurmJob job) {
            return "slurm job " + job.job() + " step " + job.step();
        }
        return "cgroup " + ((Raw) this).text().strip();
    }

    /**
     * @param uid 36 characters, or 32 hexadecimal digits for a static pod
     * @param logs true when the kubelet's log folder names the pod
     */
    record Pod(
            String namespace,
            String name,
            String uid,
            String container,
            String containerId,
            CgroupVersion version,
            CgroupDriver driver,
            Runtime runtime,
            Qos qos,
            boolean logs)
            implements ProcessOwner {}

    /** A container without a pod. */
    record Container(Runtime runtime, String containerId, CgroupVersion version, CgroupDriver driver)
            implements ProcessOwner {}

    record Unit(String name, String slice, CgroupVersion version) implements ProcessOwner {}

    record SlurmJob(int job, String step, int user, CgroupVersion version) implements ProcessOwner {}

    /** The whole text of the cgroup file. */
    record Raw(String text) implements ProcessOwner {}

    /** Version of the cgroup file system. */
    enum CgroupVersion {
        V1,
        V2
    }

    /** The creator of the pods' cgroups. */
    enum CgroupDriver {
        SYSTEMD,
        CGROUPFS
    }

    /** Container runtimes. */
    enum Runtime {
        CONTAINERD,
        CRIO,
        DOCKER,
        PODMAN
    }

    /** Quality of service of a pod. */
    enum Qos {
        GUARANTEED,
        BURSTABLE,
        BESTEFFORT
    }

    /** Reads the owner of a process: at most one of the keys {@link #KINDS}, otherwise a login session. */
    static final class OwnerReader {

        static final List<String> KINDS = List.of("pod", "container", "unit", "slurm", "cgroup");

        private static final Pattern DNS = Pattern.compile("[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?");
        private static final Pattern UID =
                Pattern.compile("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{32}");
        private static final Pattern CONTAINER_ID = Pattern.compile("[0-9a-f]{64}");
        private static final Pattern UNIT =
                Pattern.compile("[A-Za-z0-9:_.\\\\@-]{1,240}\\.(service|scope|slice|mount|socket)");
        private static final Pattern STEP = Pattern.compile("[0-9]{1,9}|batch|extern|interactive");

        private OwnerReader() {}

        /** @param number of this process among several equal ones; replaces "{n}" in a pod's name */
        static ProcessOwner read(Fields process, int number) {
            List<String> given = KINDS.stream().filter(process::has).toList();
            if (given.size() > 1) {
                throw process.require(given.get(1)).problem("one owner, and \"" + given.get(0) + "\" is given too");
            }
            if (given.isEmpty()) {
                return new ProcessOwner.Unit("session-1.scope", "user.slice/user-1000.slice", CgroupVersion.V2);
            }
            YamlNode node = process.require(given.get(0));
            return switch (given.get(0)) {
                case "pod" -> pod(node, number);
                case "container" -> container(node, number);
                case "unit" -> unit(node);
                case "slurm" -> slurm(node);
                default -> raw(node);
            };
        }

        private static String matching(Fields f, String key, String otherwise, Pattern pattern, String expected) {
            return f.read(key, otherwise, node -> node.matching(pattern, expected));
        }

        private static ProcessOwner pod(YamlNode node, int number) {
            Fields f = node.fields(
                    "namespace",
                    "name",
                    "uid",
                    "container",
                    "container-id",
                    "cgroup",
                    "driver",
                    "runtime",
                    "qos",
                    "logs");
            YamlNode name = f.require("name");
            String podName = name.text().replace("{n}", Integer.toString(number));
            if (!DNS.matcher(podName).matches()) {
                throw name.problem("a pod's name: lower-case letters, digits, '-' and '.'");
            }
            String namespace =
                    matching(f, "namespace", "default", DNS, "a namespace: lower-case letters, digits and '-'");
            String container = matching(f, "container", "main", DNS, "a container's name");
            String seed = namespace + "/" + podName;
            Runtime runtime = f.choice("runtime", Runtime.CONTAINERD);
            if (runtime == Runtime.PODMAN) {
                throw f.require("runtime").problem("containerd, crio or docker; podman's containers are \"container\"");
            }
            return new ProcessOwner.Pod(
                    namespace,
                    podName,
                    matching(f, "uid", Identity.uuid(seed), UID, "a pod UID, or a static pod's 32 hexadecimal digits"),
                    container,
                    matching(
                            f,
                            "container-id",
                            Sha256.hex(seed + "/" + container, 64),
                            CONTAINER_ID,
                            "64 hexadecimal digits"),
                    f.choice("cgroup", CgroupVersion.V2),
                    f.choice("driver", CgroupDriver.SYSTEMD),
                    runtime,
                    f.choice("qos", Qos.BURSTABLE),
                    f.read("logs", true, YamlNode::flag));
        }

        private static ProcessOwner container(YamlNode node, int number) {
            Fields f = node.fields("runtime", "id", "cgroup", "driver");
            Runtime runtime = f.choice("runtime", Runtime.DOCKER);
            if (runtime != Runtime.DOCKER && runtime != Runtime.PODMAN) {
                throw f.require("runtime").problem("docker or podman; those of containerd and crio are in pods");
            }
            return new ProcessOwner.Container(
                    runtime,
                    matching(
                            f,
                            "id",
                            Sha256.hex("container/" + runtime + "/" + number, 64),
                            CONTAINER_ID,
                            "64 hexadecimal digits"),
                    f.choice("cgroup", CgroupVersion.V2),
                    f.choice("driver", CgroupDriver.SYSTEMD));
        }

        private static ProcessOwner unit(YamlNode node) {
            if (node.isScalar()) {
                String name = node.text();
                if (!UNIT.matcher(name).matches()) {
                    throw node.problem("a systemd unit, for example jupyter.service");
                }
                return new ProcessOwner.Unit(name, "system.slice", CgroupVersion.V2);
            }
            Fields f = node.fields("name", "slice", "cgroup");
            f.require("name");
            return new ProcessOwner.Unit(
                    matching(f, "name", "", UNIT, "a systemd unit, for example jupyter.service"),
                    f.read("slice", "system.slice", YamlNode::text),
                    f.choice("cgroup", CgroupVersion.V2));
        }

        private static ProcessOwner slurm(YamlNode node) {
            Fields f = node.fields("job", "step", "user", "cgroup");
            f.require("job");
            return new ProcessOwner.SlurmJob(
                    f.integer("job", 0, 1, 999_999_999),
                    matching(f, "step", "0", STEP, "a step's number, batch, extern or interactive"),
                    f.integer("user", 1000, 0, 999_999_999),
                    f.choice("cgroup", CgroupVersion.V2));
        }

        private static ProcessOwner raw(YamlNode node) {
            String text = node.text();
            if (text.startsWith("/")) {
                return new ProcessOwner.Raw("0::" + text + "\n");
            }
            if (!text.isEmpty() && !text.contains(":")) {
                throw node.problem("a path, or lines of a cgroup file");
            }
            return new ProcessOwner.Raw(text.isEmpty() || text.endsWith("\n") ? text : text + "\n");
        }
    }
}
