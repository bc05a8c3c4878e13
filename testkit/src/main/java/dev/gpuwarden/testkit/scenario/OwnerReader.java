package dev.gpuwarden.testkit.scenario;

import dev.gpuwarden.testkit.scenario.ProcessOwner.CgroupDriver;
import dev.gpuwarden.testkit.scenario.ProcessOwner.CgroupVersion;
import dev.gpuwarden.testkit.scenario.ProcessOwner.Qos;
import dev.gpuwarden.testkit.scenario.ProcessOwner.Runtime;
import java.util.List;
import java.util.regex.Pattern;

/** Reads whom a process belongs to. */
final class OwnerReader {

    /** The keys of a process of which at most one may stand. */
    static final List<String> KINDS = List.of("pod", "container", "unit", "slurm", "cgroup");

    private static final Pattern DNS = Pattern.compile("[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?");
    private static final Pattern UID =
            Pattern.compile("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{32}");
    private static final Pattern CONTAINER_ID = Pattern.compile("[0-9a-f]{64}");
    private static final Pattern UNIT =
            Pattern.compile("[A-Za-z0-9:_.\\\\@-]{1,240}\\.(service|scope|slice|mount|socket)");
    private static final Pattern STEP = Pattern.compile("[0-9]{1,9}|batch|extern|interactive");

    private OwnerReader() {}

    /** @param number which of several like processes; stands for "{n}" in a pod's name */
    static ProcessOwner read(Fields process, int number) {
        List<String> given =
                KINDS.stream().filter(kind -> process.get(kind).isPresent()).toList();
        if (given.size() > 1) {
            throw process.require(given.get(1))
                    .problem(process.subject(given.get(1)), "one owner, and \"" + given.get(0) + "\" is given too");
        }
        if (given.isEmpty()) {
            return new ProcessOwner.Unit("session-1.scope", "user.slice/user-1000.slice", CgroupVersion.V2);
        }
        Yaml yaml = process.require(given.get(0));
        String subject = process.subject(given.get(0));
        return switch (given.get(0)) {
            case "pod" -> pod(yaml, subject, number);
            case "container" -> container(yaml, subject, number);
            case "unit" -> unit(yaml, subject);
            case "slurm" -> slurm(yaml, subject);
            default -> raw(yaml, subject);
        };
    }

    private static ProcessOwner pod(Yaml yaml, String subject, int number) {
        Fields f = new Fields(
                yaml,
                subject,
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
        Yaml name = f.require("name");
        String podName = name.text(f.subject("name")).replace("{n}", Integer.toString(number));
        if (!DNS.matcher(podName).matches()) {
            throw name.problem(f.subject("name"), "a pod's name: lower-case letters, digits, '-' and '.'");
        }
        String namespace = f.matching("namespace", "default", DNS, "a namespace: lower-case letters, digits and '-'");
        String container = f.matching("container", "main", DNS, "a container's name");
        String seed = namespace + "/" + podName;
        Runtime runtime = f.choice("runtime", Runtime.CONTAINERD, Runtime.class);
        if (runtime == Runtime.PODMAN) {
            throw f.require("runtime")
                    .problem(f.subject("runtime"), "containerd, crio or docker; podman's containers are \"container\"");
        }
        return new ProcessOwner.Pod(
                namespace,
                podName,
                f.matching("uid", Identity.uuid(seed), UID, "a pod UID, or a static pod's 32 hexadecimal digits"),
                container,
                f.matching(
                        "container-id",
                        Identity.hex(seed + "/" + container, 64),
                        CONTAINER_ID,
                        "64 hexadecimal digits"),
                f.choice("cgroup", CgroupVersion.V2, CgroupVersion.class),
                f.choice("driver", CgroupDriver.SYSTEMD, CgroupDriver.class),
                runtime,
                f.choice("qos", Qos.BURSTABLE, Qos.class),
                f.flag("logs", true));
    }

    private static ProcessOwner container(Yaml yaml, String subject, int number) {
        Fields f = new Fields(yaml, subject, "runtime", "id", "cgroup", "driver");
        Runtime runtime = f.choice("runtime", Runtime.DOCKER, Runtime.class);
        if (runtime != Runtime.DOCKER && runtime != Runtime.PODMAN) {
            throw f.require("runtime")
                    .problem(f.subject("runtime"), "docker or podman; those of containerd and crio are in pods");
        }
        return new ProcessOwner.Container(
                runtime,
                f.matching(
                        "id",
                        Identity.hex("container/" + runtime + "/" + number, 64),
                        CONTAINER_ID,
                        "64 hexadecimal digits"),
                f.choice("cgroup", CgroupVersion.V2, CgroupVersion.class),
                f.choice("driver", CgroupDriver.SYSTEMD, CgroupDriver.class));
    }

    private static ProcessOwner unit(Yaml yaml, String subject) {
        if (yaml.isScalar()) {
            String name = yaml.text(subject);
            if (!UNIT.matcher(name).matches()) {
                throw yaml.problem(subject, "a systemd unit, for example jupyter.service");
            }
            return new ProcessOwner.Unit(name, "system.slice", CgroupVersion.V2);
        }
        Fields f = new Fields(yaml, subject, "name", "slice", "cgroup");
        f.require("name");
        return new ProcessOwner.Unit(
                f.matching("name", "", UNIT, "a systemd unit, for example jupyter.service"),
                f.text("slice", "system.slice"),
                f.choice("cgroup", CgroupVersion.V2, CgroupVersion.class));
    }

    private static ProcessOwner slurm(Yaml yaml, String subject) {
        Fields f = new Fields(yaml, subject, "job", "step", "user", "cgroup");
        f.require("job");
        return new ProcessOwner.SlurmJob(
                f.number("job", 0, 1, 999_999_999),
                f.matching("step", "0", STEP, "a step's number, batch, extern or interactive"),
                f.number("user", 1000, 0, 999_999_999),
                f.choice("cgroup", CgroupVersion.V2, CgroupVersion.class));
    }

    private static ProcessOwner raw(Yaml yaml, String subject) {
        String text = yaml.text(subject);
        if (text.startsWith("/")) {
            return new ProcessOwner.Raw("0::" + text + "\n");
        }
        if (!text.isEmpty() && !text.contains(":")) {
            throw yaml.problem(subject, "a path, or lines of a cgroup file");
        }
        return new ProcessOwner.Raw(text.isEmpty() || text.endsWith("\n") ? text : text + "\n");
    }
}
