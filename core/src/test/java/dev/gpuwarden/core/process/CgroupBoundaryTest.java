package dev.gpuwarden.core.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Boundaries in cgroup paths: a name below one belongs to it. */
class CgroupBoundaryTest {

    private static final String UID = "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9";
    private static final String ID = "a".repeat(63) + "1";

    /** The number of random paths; raised for a long run. */
    private static final int PATHS = Integer.getInteger("gpuwarden.cgroup-paths", 20_000);

    private static String path(String template) {
        return template.replace("<uid_>", UID.replace('-', '_'))
                .replace("<uid>", UID)
                .replace("<id>", ID);
    }

    private static Owner owner(String template) {
        return CgroupPath.parse(path(template)).owner();
    }

    @ParameterizedTest
    @CsvSource({
        // LXC 4 and later, LXD and Incus; the project of LXD is part of the name
        "0::/lxc.payload.ct1/system.slice/ollama.service, lxc, ct1",
        "0::/lxc.payload.ct1, lxc, ct1",
        "0::/lxc.payload.user-1000_ct1/init.scope, lxc, user-1000_ct1",
        "0::/lxc.monitor.ct1, lxc, ct1",
        "0::/system.slice/lxc@ct1.service/lxc.payload.ct1/system.slice/ollama.service, lxc, ct1",
        "0::/system.slice/snap.lxd.daemon.service/lxc.payload.ct1/init.scope, lxc, ct1",
        // before LXC 4, and Proxmox
        "0::/lxc/ct1/system.slice/ollama.service, lxc, ct1",
        "4:memory:/lxc/ct1/user.slice, lxc, ct1",
        "0::/lxc/101/ns/system.slice/ollama.service, lxc, 101",
        "0::/lxc.payload/ct1/init.scope, lxc, ct1",
        "0::/lxc.monitor/101, lxc, 101",
        "0::/system.slice/pve-container@101.service/lxc/101/ns/init.scope, lxc, 101",
        "0::/qemu.slice/101.scope, qemu, 101",
        // libvirt and systemd-nspawn
        "0::/machine.slice/machine-lxc\\x2d1234\\x2dweb\\x2d1.scope/system.slice/ollama.service, libvirt-lxc, web-1",
        "0::/machine.slice/machine-qemu\\x2d1\\x2dvm1.scope/libvirt/vcpu0, qemu, vm1",
        "4:memory:/machine/vm1.libvirt-qemu/emulator, qemu, vm1",
        "4:memory:/machine/web.libvirt-lxc, libvirt-lxc, web",
        "0::/machine.slice/systemd-nspawn@x.service/payload/system.slice/ollama.service, nspawn, x",
        "0::/machine.slice/systemd-nspawn@web\\x2d1.service/supervisor, nspawn, web-1",
        "0::/machine.slice/machine-web.scope/payload, machine, web",
        "0::/../../lxc.payload.ct1/system.slice/ollama.service, lxc, ct1"
    })
    void guests(String form, String type, String name) {
        assertThat(owner(form)).isEqualTo(new Owner.Guest(type, name));
    }

    @ParameterizedTest
    @CsvSource({
        "0::/lsf/cluster1/job.4411.28545.1393524592, lsf, 4411",
        "5:memory:/lsf/cluster1/job.4411.28545.1393524592/step, lsf, 4411",
        "0::/lsf/cluster1/job.4411[7].28545.1393524592, lsf, 4411[7]",
        "0::/pbs_jobs.service/jobid/4411.srv, pbs, 4411.srv",
        "5:memory:/pbs_jobs/4411.srv.example.com, pbs, 4411.srv.example.com",
        "0::/pbspro.slice/pbspro-4411.srv.slice, pbs, 4411.srv",
        "0::/pbspro.slice/pbspro-4411\\x5b7\\x5d.srv\\x2d1.slice, pbs, 4411[7].srv-1",
        "5:memory:/pbspro/4411.srv, pbs, 4411.srv",
        "0::/system.slice/condor.service/htcondor/condor_var_lib_condor_execute_slot1_2@host, htcondor, slot1_2@host",
        "5:memory:/htcondor/condor_var_lib_condor_execute_slot1@host.example, htcondor, slot1@host.example"
    })
    void jobsOfOtherBatchSystems(String form, String system, String job) {
        assertThat(owner(form)).isEqualTo(new Owner.BatchJob(system, job));
    }

    @ParameterizedTest
    @CsvSource({
        // A user names a cgroup below the own manager like a pod, a job, a guest or a container of root.
        "0::/user.slice/user-1000.slice/user@1000.service/app.slice/kubepods-pod<uid_>.slice/cri-containerd-<id>.scope, rootless-containerd",
        "0::/user.slice/user-1000.slice/user@1000.service/kubepods/pod<uid>/<id>, rootless-unknown",
        "0::/user.slice/user-1000.slice/user@1000.service/docker/<id>, rootless-docker",
        "4:memory:/user/alice/0/kubepods/pod<uid>/<id>, rootless-unknown"
    })
    void podsOfAUserAreContainersOfThatUser(String form, String runtime) {
        assertThat(owner(form)).isEqualTo(new Owner.Container(runtime, ID));
    }

    @ParameterizedTest
    @CsvSource({
        "0::/user.slice/user-1000.slice/user@1000.service/app.slice/kubepods-pod<uid_>.slice, user@1000.service",
        "0::/user.slice/user-1000.slice/user@1000.service/kubepods/pod<uid>, user@1000.service",
        "0::/user.slice/user-1000.slice/user@1000.service/lxc.payload.ct1/system.slice/a.service, user@1000.service/a.service",
        "0::/user.slice/user-1000.slice/user@1000.service/a.service/docker-<id>.scope, user@1000.service/a.service",
        "0::/user.slice/user-1000.slice/user@1000.service/lsf/c/job.1.2.3, user@1000.service",
        "0::/user.slice/user-1000.slice/session-3.scope/kubepods/pod<uid>/<id>, session-3.scope",
        // A unit to which systemd delegates its cgroup may run as any user.
        "0::/system.slice/jupyter.service/kubepods/pod<uid>/<id>, jupyter.service",
        "0::/system.slice/jupyter.service/kubepods-pod<uid_>.slice:cri-containerd:<id>, jupyter.service",
        "0::/system.slice/jupyter.service/docker/<id>, jupyter.service",
        "0::/system.slice/jupyter.service/slurmstepd.scope/job_1/step_0, jupyter.service",
        "0::/system.slice/jupyter.service/lxc.payload.ct1, jupyter.service",
        "0::/system.slice/jupyter.service/htcondor/condor_x_slot1@h, jupyter.service",
        "0::/system.slice/mydocker.service/docker/<id>, mydocker.service",
        "0::/system.slice/docker.service/jupyter.service/docker/<id>, docker.service",
        "0::/system.slice/condor.service, condor.service"
    })
    void aNameBelowAUnitBelongsToTheUnit(String form, String unit) {
        assertThat(owner(form)).isEqualTo(new Owner.Unit(unit));
    }

    @Test
    void aCgroupsNameMakesNoLine() {
        assertThat(owner("0::/system.slice/jupyter.service/x\r0::/kubepods/pod<uid>/<id>"))
                .isEqualTo(new Owner.Unit("jupyter.service"));
    }

    @Test
    void aGuestInAnyHierarchyIsTheOwner() {
        assertThat(owner("4:memory:/lxc/ct1\n1:name=systemd:/kubepods/pod<uid>/<id>\n0::/system.slice/ollama.service"))
                .isEqualTo(new Owner.Guest("lxc", "ct1"));
    }

    private static Predicate<Owner> is(Owner expected) {
        return expected::equals;
    }

    private static Map<String, Predicate<Owner>> boundaries() {
        Map<String, Predicate<Owner>> all = new LinkedHashMap<>();
        Predicate<Owner> pod = owner -> owner instanceof Owner.Pod found
                && found.uid().equals(UID)
                && found.containerId().asOptional().equals(java.util.Optional.of(ID));
        Predicate<Owner> user = owner -> owner instanceof Owner.Unit unit
                        && (unit.name().equals("user@1000.service")
                                || unit.name().startsWith("user@1000.service/"))
                || owner instanceof Owner.Container container
                        && container.runtime().startsWith("rootless-");
        Predicate<Owner> job =
                owner -> owner instanceof Owner.SlurmJob found && found.jobId().equals("4711");
        all.put("/kubepods/burstable/pod<uid>/<id>", pod);
        all.put("/kubepods.slice/kubepods-pod<uid_>.slice/cri-containerd-<id>.scope", pod);
        all.put("/system.slice/containerd.service/kubepods-pod<uid_>.slice:cri-containerd:<id>", pod);
        all.put("/../../kubepods-pod<uid_>.slice/crio-<id>.scope", pod);
        all.put("/docker/<id>", is(new Owner.Container("docker", ID)));
        all.put("/system.slice/docker-<id>.scope", is(new Owner.Container("docker", ID)));
        all.put("/machine.slice/libpod-<id>.scope", is(new Owner.Container("podman", ID)));
        all.put("/default/mygpu", is(new Owner.Container("containerd", "mygpu")));
        all.put("/ecs/task/TASK-123", is(new Owner.Container("ecs", "TASK-123")));
        all.put("/garden/handle", is(new Owner.Container("garden", "handle")));
        all.put("/user.slice/user-1000.slice/user@1000.service", user);
        all.put("/../user@1000.service", user);
        all.put("/user.slice/user-1000.slice/session-3.scope", is(new Owner.Unit("session-3.scope")));
        all.put("/system.slice/ollama.service", is(new Owner.Unit("ollama.service")));
        all.put("/system.slice/model.service/libpod-payload-<id>", is(new Owner.Unit("model.service")));
        all.put("/init.scope", is(new Owner.Unit("init.scope")));
        all.put("/system.slice/slurmstepd.scope/job_4711/step_0", job);
        all.put("/slurm/uid_1000/job_4711/step_batch", job);
        all.put("/lsf/c1/job.4411.2.3", is(new Owner.BatchJob("lsf", "4411")));
        all.put("/pbs_jobs.service/jobid/4411.srv", is(new Owner.BatchJob("pbs", "4411.srv")));
        all.put("/pbspro.slice/pbspro-4411.srv.slice", is(new Owner.BatchJob("pbs", "4411.srv")));
        all.put(
                "/system.slice/condor.service/htcondor/condor_execute_slot1_2@host",
                is(new Owner.BatchJob("htcondor", "slot1_2@host")));
        all.put("/lxc.payload.ct1", is(new Owner.Guest("lxc", "ct1")));
        all.put("/lxc/101/ns", is(new Owner.Guest("lxc", "101")));
        all.put("/system.slice/lxc@ct1.service/lxc.payload.ct1", is(new Owner.Guest("lxc", "ct1")));
        all.put("/machine.slice/systemd-nspawn@x.service/payload", is(new Owner.Guest("nspawn", "x")));
        all.put("/machine.slice/machine-lxc\\x2d12\\x2dweb.scope", is(new Owner.Guest("libvirt-lxc", "web")));
        all.put("/machine.slice/machine-qemu\\x2d1\\x2dvm.scope/libvirt", is(new Owner.Guest("qemu", "vm")));
        all.put("/machine/vm.libvirt-qemu", is(new Owner.Guest("qemu", "vm")));
        return all;
    }

    /** Names that decide elsewhere, of another pod, container, job, guest and unit. */
    private static List<String> names() {
        String other = "ffffffff-4e5f-6071-8293-a4b5c6d7e8f9";
        String slice = "kubepods-burstable-pod" + other.replace('-', '_') + ".slice";
        String id = "b".repeat(64);
        return List.of(("kubepods kubepods.slice burstable kubelet pod" + other + " " + slice + " " + slice
                        + ":cri-containerd:" + id
                        + " cri-containerd-" + id + ".scope crio-" + id + ".scope docker-" + id + ".scope libpod-" + id
                        + ".scope libpod-payload-" + id + " " + id + " docker default k8s.io ecs garden mygpu"
                        + " system.slice user.slice machine.slice user-7.slice user@7.service session-9.scope init.scope"
                        + " ollama.service docker.service containerd.service k3s.service condor.service pbs_jobs.service"
                        + " htcondor condor_x_slot9@h jobid 99.srv pbspro.slice pbspro-99.srv.slice lsf c9 job.99.1.1"
                        + " slurm slurmstepd.scope uid_9 job_99 step_9 step_extern lxc lxc.payload.ct9 lxc.monitor.ct9"
                        + " lxc.payload 109 ns lxc@ct9.service systemd-nspawn@y.service payload machine-y.scope"
                        + " machine-qemu\\x2d9\\x2dvm9.scope machine vm9.libvirt-lxc qemu.slice 109.scope ..")
                .split(" "));
    }

    @Test
    void aNameBelowABoundaryBelongsToIt() {
        Map<String, Predicate<Owner>> boundaries = boundaries();
        List<String> forms = List.copyOf(boundaries.keySet());
        List<String> names = names();
        Random random = new Random(37);
        for (int i = 0; i < PATHS; i++) {
            String form = forms.get(random.nextInt(forms.size()));
            StringBuilder path = new StringBuilder("0::").append(path(form));
            for (int depth = random.nextInt(7); depth > 0; depth--) {
                path.append('/').append(names.get(random.nextInt(names.size())));
            }
            Owner owner = CgroupPath.parse(path.toString()).owner();
            if (!boundaries.get(form).test(owner)) {
                assertThat(owner).as(path.toString()).isEqualTo("the owner of " + form);
            }
        }
    }
}
