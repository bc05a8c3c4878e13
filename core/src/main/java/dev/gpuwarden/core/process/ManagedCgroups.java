package dev.gpuwarden.core.process;

import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The cgroups that managers other than systemd, engines and the kubelet make as root: guests of LXC, LXD, Incus, Proxmox, libvirt and
 * nspawn, jobs of batch systems, and containers without a long ID. Names count where the manager makes them alone: at the root,
 * or below the manager's own unit.
 */
final class ManagedCgroups {

    /** "lxc.payload.%n" and "lxc.monitor.%n" of LXC 4 and later (lxc.cgroup.pattern); LXD and Incus put the project's name before. */
    private static final Pattern LXC = Pattern.compile("lxc\\.(?:payload|monitor)\\.(.+)");
    /** The folders of guests before LXC 4, and of Proxmox: each guest has one folder below. */
    private static final Set<String> LXC_FOLDERS = Set.of("lxc", "lxc.payload", "lxc.monitor");

    private static final Pattern LXC_UNIT = Pattern.compile(
            "(?:lxc|lxc@.+|lxd|lxd\\..+|snap\\.lxd\\..+|incus|incusd|incus\\..+|pve-container@.+)\\.(?:service|scope)");

    private static final Pattern NSPAWN = Pattern.compile("systemd-nspawn@(.+)\\.service");
    /** systemd-machined: the scope of a machine. */
    private static final Pattern MACHINE = Pattern.compile("machine-(.+)\\.scope");
    /** libvirt's name for systemd-machined: driver, number of the run, name (virDomainGenerateMachineName). */
    private static final Pattern LIBVIRT = Pattern.compile("(qemu|lxc)-[0-9]{1,10}-(.+)");
    /** libvirt without systemd. */
    private static final Pattern LIBVIRT_FOLDER = Pattern.compile("(.+)\\.libvirt-(qemu|lxc)");
    /** Proxmox: /qemu.slice/101.scope. */
    private static final Pattern PROXMOX_VM = Pattern.compile("([0-9]{1,10})\\.scope");

    private static final Pattern ESCAPED = Pattern.compile("\\\\x([0-9a-f]{2})");

    private static final Pattern SLURM_JOB = Pattern.compile("job_([0-9]{1,20})");
    private static final Pattern SLURM_STEP = Pattern.compile("step_([0-9]{1,20}|batch|extern|interactive)");
    /** LSF: job.ID.PID.TIME; an array's element has its index behind the ID. */
    private static final Pattern LSF_JOB = Pattern.compile("job\\.([0-9]{1,20}(?:\\[[0-9]{1,10}])?)\\..+");
    /** The hook pbs_cgroups of OpenPBS and PBS Professional: cgroup_prefix with ".service", ".slice" or nothing. */
    private static final Pattern PBS = Pattern.compile("(?:pbs_jobs|pbspro)(?:\\.service|\\.slice)?");

    private static final Pattern PBS_JOB = Pattern.compile(
            "(?:(?:pbs_jobs|pbspro)-)?([0-9]{1,20}(?:\\[[0-9]{0,10}])?\\.[A-Za-z0-9._-]+?)(?:\\.slice)?");
    private static final Pattern CONDOR_UNIT = Pattern.compile("(?:ht)?condor\\.service");
    /** HTCondor's starter: the folder of the execution, then the slot. */
    private static final Pattern CONDOR_JOB = Pattern.compile("condor_.*?(slot[0-9_]+@.+)");

    private ManagedCgroups() {}

    /** Returns the owner by the first names from the root; empty where no such manager made them. */
    static Optional<Owner> atRoot(List<String> names) {
        String first = names.get(0);
        List<String> rest = names.subList(1, names.size());
        if (LXC_FOLDERS.contains(first)) {
            return Optional.of(rest.isEmpty() ? none("LXC", "guest") : new Owner.Guest("lxc", rest.get(0)));
        } else if (first.startsWith("slurm") && !CgroupWalk.isUnit(first)) {
            return Optional.of(slurm(rest).orElse(none("Slurm", "job")));
        } else if (PBS.matcher(first).matches()) {
            return Optional.of(job("pbs", "PBS", PBS_JOB, rest));
        }
        return switch (first) {
            case "lsf" -> Optional.of(job("lsf", "LSF", LSF_JOB, rest));
            case "htcondor" -> Optional.of(job("htcondor", "HTCondor", CONDOR_JOB, rest));
            case "machine" -> rest.stream().findFirst().flatMap(ManagedCgroups::libvirt);
            case "qemu.slice" -> rest.stream().findFirst().flatMap(ManagedCgroups::proxmox);
            case "garden" -> named("garden", rest, 0);
            // containerd makes /NAMESPACE/ID, and "default" is its default namespace.
            case "default" -> named("containerd", rest, 0);
            case "ecs" -> named("ecs", rest, 1);
            default -> Optional.empty();
        };
    }

    /** Returns the guest whose cgroup has this name; empty for other names. */
    static Optional<Owner> guest(String name) {
        Matcher lxc = LXC.matcher(name);
        if (lxc.matches()) {
            return Optional.of(new Owner.Guest("lxc", lxc.group(1)));
        }
        Matcher nspawn = NSPAWN.matcher(name);
        if (nspawn.matches()) {
            return Optional.of(new Owner.Guest("nspawn", plain(nspawn.group(1))));
        }
        Matcher machine = MACHINE.matcher(name);
        if (!machine.matches()) {
            return Optional.empty();
        }
        String registered = plain(machine.group(1));
        Matcher libvirt = LIBVIRT.matcher(registered);
        return Optional.of(
                libvirt.matches()
                        ? libvirt(libvirt.group(1), libvirt.group(2))
                        : new Owner.Guest("machine", registered));
    }

    /** Returns the owner below a unit that is such a manager; empty for another unit. */
    static Optional<Owner> below(String unit, List<String> names) {
        if (unit.endsWith("slurmstepd.scope")) {
            return slurm(names);
        } else if (CONDOR_UNIT.matcher(unit).matches() && names.contains("htcondor")) {
            return Optional.of(job("htcondor", "HTCondor", CONDOR_JOB, names));
        } else if (LXC_UNIT.matcher(unit).matches()) {
            for (int i = 0; i < names.size(); i++) {
                if (LXC_FOLDERS.contains(names.get(i))
                        || LXC.matcher(names.get(i)).matches()) {
                    List<String> own = names.subList(i, names.size());
                    return guest(own.get(0)).or(() -> atRoot(own));
                }
            }
        }
        return Optional.empty();
    }

    private static Optional<Owner> slurm(List<String> names) {
        for (int i = 0; i < names.size(); i++) {
            Matcher job = SLURM_JOB.matcher(names.get(i));
            if (job.matches()) {
                Matcher step = SLURM_STEP.matcher(i + 1 < names.size() ? names.get(i + 1) : "");
                return Optional.of(new Owner.SlurmJob(job.group(1), step.matches() ? step.group(1) : ""));
            }
        }
        return Optional.empty();
    }

    /** Returns the first name that is a job's; without one the owner is unknown, and never the unit of all jobs. */
    private static Owner job(String system, String text, Pattern pattern, List<String> names) {
        return names.stream()
                .map(name -> pattern.matcher(plain(name)))
                .filter(Matcher::matches)
                .map(job -> (Owner) new Owner.BatchJob(system, job.group(1)))
                .findFirst()
                .orElseGet(() -> none(text, "job"));
    }

    private static Owner none(String manager, String what) {
        return new Owner.Unknown("its cgroup is one of " + manager + " and names no " + what);
    }

    /** Returns the container whose ID is the name at this place, unless an engine's long ID is there or nothing. */
    private static Optional<Owner> named(String runtime, List<String> names, int at) {
        return Stream.of(names)
                .filter(there -> there.size() > at && there.get(at).length() < 64)
                .map(there -> (Owner) new Owner.Container(runtime, there.get(at)))
                .findFirst();
    }

    private static Optional<Owner> libvirt(String folder) {
        Matcher guest = LIBVIRT_FOLDER.matcher(folder);
        return guest.matches() ? Optional.of(libvirt(guest.group(2), guest.group(1))) : Optional.empty();
    }

    private static Owner libvirt(String driver, String name) {
        return new Owner.Guest(driver.equals("lxc") ? "libvirt-lxc" : driver, name);
    }

    private static Optional<Owner> proxmox(String scope) {
        Matcher vm = PROXMOX_VM.matcher(scope);
        return vm.matches() ? Optional.of(new Owner.Guest("qemu", vm.group(1))) : Optional.empty();
    }

    /** Returns the name without systemd's escapes, such as {@code \x2d} for a hyphen. */
    private static String plain(String name) {
        return name.indexOf('\\') < 0
                ? name
                : ESCAPED.matcher(name)
                        .replaceAll(hex ->
                                Matcher.quoteReplacement(String.valueOf((char) Integer.parseInt(hex.group(1), 16))));
    }
}
