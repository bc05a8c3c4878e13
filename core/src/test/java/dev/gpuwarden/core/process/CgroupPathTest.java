package dev.gpuwarden.core.process;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.model.Reading;
import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class CgroupPathTest {

    private static final String UID = "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9";
    private static final String OTHER = "ffffffff-4e5f-6071-8293-a4b5c6d7e8f9";
    private static final String HASH = "0123456789abcdef0123456789abcdef";
    private static final String ID = "a".repeat(63) + "1";
    private static final String ID2 = "b".repeat(63) + "2";

    private static String path(String template) {
        return template.replace("<uid_>", UID.replace('-', '_'))
                .replace("<uid>", UID)
                .replace("<other_>", OTHER.replace('-', '_'))
                .replace("<other>", OTHER)
                .replace("<hash>", HASH)
                .replace("<id>", ID)
                .replace("<id2>", ID2);
    }

    private static Owner owner(String template) {
        return CgroupPath.parse(path(template)).owner();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                // systemd driver: containerd, CRI-O, Docker; every quality of service
                "0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod<uid_>.slice/cri-containerd-<id>.scope",
                "0::/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod<uid_>.slice/crio-<id>.scope",
                "0::/kubepods.slice/kubepods-pod<uid_>.slice/cri-containerd-<id>.scope",
                "0::/kubepods.slice/kubepods-pod<uid_>.slice/docker-<id>.scope",
                "0::/kubepods.slice/kubepods-pod<uid_>.slice/crio-<id>.scope/container",
                "0::/kubepods.slice/kubepods-pod<uid_>.slice/crio-conmon-<id>.scope",
                "0::/kubepods.slice/kubepods-pod<uid_>.slice/cri-containerd-<id>.scope/init/workers",
                "0::/kubepods.slice/kubepods-pod<uid_>.slice/cri-containerd-<id>.scope (deleted)",
                // cgroupfs driver
                "0::/kubepods/burstable/pod<uid>/<id>",
                "0::/kubepods/besteffort/pod<uid>/<id>",
                "0::/kubepods/pod<uid>/<id>",
                "0::/kubepods/pod<uid>/crio-<id>",
                // v1, any controller
                "4:memory:/kubepods/burstable/pod<uid>/<id>",
                "1:name=systemd:/kubepods.slice/kubepods-pod<uid_>.slice/docker-<id>.scope",
                "11:devices:/kubepods/pod<uid>/<id>",
                // containerd's odd form of v1
                "9:pids:/system.slice/containerd.service/kubepods-burstable-pod<uid_>.slice:cri-containerd:<id>",
                "1:name=systemd:/kubepods-pod<uid_>.slice:crio:<id>",
                "1:name=systemd:/system.slice/k3s.service/kubepods-pod<uid_>.slice:cri-containerd:<id>",
                "9:pids:/system.slice/snap.microk8s.daemon-containerd.service/kubepods-pod<uid_>.slice:cri-containerd:<id>",
                // nodes in containers with a cgroup namespace
                "0::/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-besteffort.slice/kubelet-kubepods-besteffort-pod<uid_>.slice/cri-containerd-<id>.scope",
                "0::/kubelet/kubepods/burstable/pod<uid>/<id>",
                // seen from a cgroup namespace of one's own
                "0::/../../kubepods-besteffort-pod<uid_>.slice/cri-containerd-<id>.scope",
                "0::/../../../kubepods-burstable.slice/kubepods-burstable-pod<uid_>.slice/crio-<id>.scope",
                "0::/../../pod<uid>/<id>",
                // a container engine inside a container: the outer one is kubelet's
                "0::/kubepods/burstable/pod<uid>/<id>/docker/<id2>",
            })
    void podsAreFoundInEveryForm(String form) {
        assertThat(owner(form)).isInstanceOfSatisfying(Owner.Pod.class, pod -> {
            assertThat(pod.uid()).isEqualTo(UID);
            assertThat(pod.containerId()).isEqualTo(Reading.of(ID));
        });
    }

    @ParameterizedTest
    @CsvSource({
        "0::/docker/<id2>/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-besteffort.slice/kubelet-kubepods-besteffort-pod<uid_>.slice/cri-containerd-<id>.scope,"
                + " 0::/docker/<id2>/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod<other_>.slice/cri-containerd-<id>.scope, docker",
        "0::/system.slice/docker-<id2>.scope/kubelet/kubepods/burstable/pod<uid>/<id>,"
                + " 0::/system.slice/docker-<id2>.scope/kubelet/kubepods/pod<other>/<id>, docker",
        "'7:cpu,cpuacct:/docker/<id2>/kubelet/kubepods/pod<uid>/<id>',"
                + " '7:cpu,cpuacct:/docker/<id2>/system.slice/gpuwarden.service', docker",
        "0::/machine.slice/libpod-<id2>.scope/container/kubelet/kubepods/pod<uid>/<id>, 0::/machine.slice/libpod-<id2>.scope/container, podman"
    })
    void podsOfANodeInAContainerAreItsOwnForItAlone(String pod, String own, String runtime) {
        assertThat(owner(pod)).isEqualTo(new Owner.Container(runtime, ID2));
        CgroupPath.NodeRoot node = CgroupPath.NodeRoot.of(path(own));
        assertThat(CgroupPath.parse(path(pod), node).owner())
                .isInstanceOfSatisfying(
                        Owner.Pod.class, found -> assertThat(found.uid()).isEqualTo(UID));
        // Another container beside the node is none of its pods.
        assertThat(CgroupPath.parse(path(pod.replace("<id2>", "<id>")), node).owner())
                .isEqualTo(new Owner.Container(runtime, ID));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "0::/kubepods/burstable/pod<uid>/<id>",
                "0::/system.slice/gpuwarden.service",
                "0::/",
                "",
                "0::/../../pod<uid>/<id>"
            })
    void aNodeThatIsNoContainerBeginsAtTheRoot(String own) {
        String posing = path("0::/docker/<id2>/kubepods/pod<uid>/<id>");
        assertThat(CgroupPath.parse(posing, CgroupPath.NodeRoot.of(path(own))).owner())
                .isEqualTo(new Owner.Container("docker", ID2));
    }

    @ParameterizedTest
    @CsvSource({
        "0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod<hash>.slice/cri-containerd-<id>.scope",
        "0::/kubepods/burstable/pod<hash>/<id>"
    })
    void staticPodsAreKnownByTheHashOfTheirManifest(String form) {
        assertThat(owner(form))
                .isInstanceOfSatisfying(
                        Owner.Pod.class, pod -> assertThat(pod.uid()).isEqualTo(HASH));
    }

    @Test
    void aPodsOwnCgroupHasNoContainer() {
        assertThat(owner("0::/kubepods.slice/kubepods-pod<uid_>.slice"))
                .isInstanceOfSatisfying(
                        Owner.Pod.class, pod -> assertThat(pod.containerId()).isInstanceOf(Reading.Absent.class));
    }

    @ParameterizedTest
    @CsvSource({
        "0::/docker/<id>, docker",
        "0::/system.slice/docker-<id>.scope, docker",
        "0::/user.slice/user-1000.slice/user@1000.service/user.slice/docker-<id>.scope, rootless-docker",
        "5:cpuset:/docker/<id>, docker",
        "0::/machine.slice/libpod-<id>.scope, podman",
        "0::/machine.slice/libpod-<id>.scope/container, podman",
        "0::/machine.slice/machine-libpod_pod_<id2>.slice/libpod-<id>.scope/container, podman",
        "0::/libpod_parent/libpod-<id>, podman",
        "0::/machine.slice/libpod-conmon-<id>.scope, podman",
        "0::/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-<id>.scope, rootless-podman",
        "0::/libpod_parent/<id>, podman",
        "0::/system.slice/nerdctl-<id>.scope, containerd",
        "0::/default/<id>, containerd",
        // a sibling in one's own pod, seen from a cgroup namespace of one's own: the pod's name is out of sight
        "0::/../cri-containerd-<id>.scope, containerd",
        "0::/../crio-<id>.scope, cri-o",
        "0::/somewhere/<id>, unknown"
    })
    void containersWithoutPod(String form, String runtime) {
        assertThat(owner(form)).isEqualTo(new Owner.Container(runtime, ID));
    }

    @ParameterizedTest
    @CsvSource({
        "0::/system.slice/jupyter.service, jupyter.service",
        "0::/system.slice/jupyter.service/worker, jupyter.service",
        // Podman's --cgroups=split, which Quadlet uses
        "0::/system.slice/model.service/libpod-payload-<id>, model.service",
        "0::/user.slice/user-1000.slice/session-3.scope, session-3.scope",
        "0::/user.slice/user-1000.slice/user@1000.service, user@1000.service",
        "0::/user.slice/user-1000.slice/user@1000.service/app.slice/train.service, user@1000.service/train.service",
        "0::/init.scope, init.scope",
        "1:name=systemd:/system.slice/system-getty.slice/getty@tty1.service, getty@tty1.service"
    })
    void unitsOfSystemd(String form, String unit) {
        assertThat(owner(form)).isEqualTo(new Owner.Unit(unit));
    }

    @ParameterizedTest
    @CsvSource({
        "0::/default/mygpu, containerd, mygpu",
        "0::/ecs/0123456789abcdef/TASK-123, ecs, TASK-123",
        "0::/garden/d2e1a6b0-1111-4222-8333-444455556666, garden, d2e1a6b0-1111-4222-8333-444455556666",
        "0::/ecs/0123456789abcdef/<id>, unknown, <id>"
    })
    void containersWithoutALongId(String form, String runtime, String id) {
        assertThat(owner(form)).isEqualTo(new Owner.Container(runtime, path(id)));
    }

    @ParameterizedTest
    @CsvSource({
        "0::/system.slice/slurmstepd.scope/job_4711/step_0/user/task_0, 4711, 0",
        "0::/system.slice/slurmstepd.scope/job_4711/step_batch/slurm, 4711, batch",
        "0::/system.slice/node7_slurmstepd.scope/job_4711/step_extern, 4711, extern",
        "8:memory:/slurm/uid_1000/job_4711/step_0/task_0, 4711, 0",
        "8:memory:/slurm_node7/uid_1000/job_4711, 4711, ''",
        "6:freezer:/slurm_node7/uid_0/job_4711/step_batch, 4711, batch"
    })
    void batchJobs(String form, String job, String step) {
        assertThat(owner(form)).isEqualTo(new Owner.SlurmJob(job, step));
    }

    @Test
    void mostSpecificHierarchyDecides() {
        String hybrid = path("""
                12:cpuset:/
                11:pids:/system.slice/containerd.service
                4:memory:/kubepods/burstable/pod<uid>/<id>
                1:name=systemd:/system.slice/containerd.service
                0::/system.slice/containerd.service
                """);
        CgroupPath parsed = CgroupPath.parse(hybrid);
        assertThat(parsed.owner()).isInstanceOf(Owner.Pod.class);
        assertThat(parsed.path()).isEqualTo(path("/kubepods/burstable/pod<uid>/<id>"));
    }

    @Test
    void amongEqualsTheUnifiedHierarchyDecides() {
        assertThat(owner("4:memory:/system.slice/old.service\n0::/system.slice/new.service\n"))
                .isEqualTo(new Owner.Unit("new.service"));
    }

    @ParameterizedTest
    @CsvSource({
        // A process that may make cgroups below its own cannot pass for another pod, container, unit or job.
        "0::/kubepods/burstable/pod<uid>/<id>/kubepods/burstable/pod<other>/<id2>, " + UID,
        "0::/kubepods.slice/kubepods-pod<uid_>.slice/cri-containerd-<id>.scope/kubepods-pod<other_>.slice/cri-containerd-<id2>.scope, "
                + UID,
        "0::/kubepods/pod<uid>/<id>/system.slice/slurmstepd.scope/job_1/step_0, " + UID
    })
    void cgroupsBelowOnesOwnDoNotChangeTheOwner(String form, String uid) {
        assertThat(owner(form)).isInstanceOfSatisfying(Owner.Pod.class, pod -> {
            assertThat(pod.uid()).isEqualTo(uid);
            assertThat(pod.containerId()).isEqualTo(Reading.of(ID));
        });
    }

    @Test
    void cgroupsOfAUserNameNoJobOfSlurm() {
        assertThat(owner("0::/user.slice/user-7.slice/user@7.service/slurmstepd.scope/job_1/step_0"))
                .isEqualTo(new Owner.Unit("user@7.service/slurmstepd.scope"));
    }

    @Test
    void userUnitIsNotASystemUnit() {
        assertThat(owner("0::/user.slice/user-7.slice/user@7.service/docker.service"))
                .isEqualTo(new Owner.Unit("user@7.service/docker.service"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "''",
                "0::/",
                "0::",
                "::::",
                "/kubepods/pod<uid>/<id>",
                "0::kubepods/pod<uid>/<id>",
                "0::/pod<uid>/x", // not below kubepods
                "0::/kubepods/pod<uid>x/y",
                "0::/kubepods/podABCDEF01-4E5F-6071-8293-A4B5C6D7E8F9/y",
                "0::/kubepods-pod../../etc/passwd.slice",
                "0::/job_1/step_0",
                "0::/user.slice/user-1000.slice",
                "0::/lxc",
                // a guest of another form, with a systemd of its own
                "0::/guests/ct1/payload/system.slice/ollama.service",
                "0::/payload/init.scope",
                "4:memory:/guests/ct1/system.slice/containerd.service/kubepods/pod<uid>/<id>",
                "0::/lsf/cluster1",
                "0::/pbs_jobs.service/jobid",
                "0::/system.slice/condor.service/htcondor",
                "0::/default",
                "0::/ecs/0123456789abcdef",
            })
    void textWithoutOwnerIsUnknownWithACause(String form) {
        assertThat(owner(form))
                .isInstanceOfSatisfying(
                        Owner.Unknown.class,
                        unknown -> assertThat(unknown.cause()).isNotEmpty());
    }

    @Test
    void randomAndRepetitiveTextEndsSoon() {
        Random random = new Random(7);
        String alphabet = "kubepods-pod.slice/:_0a\n\\\u0000é";
        Assertions.assertTimeoutPreemptively(Duration.ofSeconds(10), () -> {
            for (int i = 0; i < 300; i++) {
                StringBuilder text = new StringBuilder("0::/");
                int length = random.nextInt(4000);
                for (int c = 0; c < length; c++) {
                    text.append(alphabet.charAt(random.nextInt(alphabet.length())));
                }
                assertThat(CgroupPath.parse(text.toString())).isNotNull();
            }
            for (String piece : new String[] {"kubepods-", "a-", "a.", "/", "../", "pod", ":", "0", "job_1/"}) {
                assertThat(CgroupPath.parse("0::/" + piece.repeat(65536 / piece.length())))
                        .isNotNull();
            }
        });
    }
}
