package dev.gpuwarden.checks.process;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.checks.node.NodePaths;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.process.Owner;
import dev.gpuwarden.core.process.ProcessFacts;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ProcessOwnersTest {

    private static final String UID = "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9";
    private static final String ID = "c".repeat(64);
    private static final String IN_POD = "0::/kubepods/burstable/pod" + UID + "/" + ID;

    @TempDir
    Path folder;

    private NodeTree node;
    private ProcessOwners owners;

    @BeforeEach
    void createEmptyNode() {
        node = new NodeTree(folder);
        owners = new ProcessOwners(node.paths(), node.clock());
    }

    private ProcessFacts lookUp(int pid) {
        return lookUp(pid, 0);
    }

    private ProcessFacts lookUp(int pid, long ageSeconds) {
        return owners.lookUp(Map.of(pid, ageSeconds * 1_000_000_000)).get(pid);
    }

    private static Owner unknown(String cause) {
        return new Owner.Unknown(cause);
    }

    @Test
    void aProcessIsNamedByItsUnit() {
        node.process(17, 500, "python", "0::/system.slice/train.service");
        assertThat(lookUp(17))
                .isEqualTo(new ProcessFacts(Reading.of(500L), Reading.of("python"), new Owner.Unit("train.service")));
    }

    @Test
    void aProcessOfAContainerIsInAPidNamespaceOfItsOwn() throws IOException {
        node.process(17, 500, "gpuwarden", "0::/system.slice/shell.service");
        node.namespaces(17, 17);
        assertThat(owners.sharesNamespace(17, 0)).isEqualTo(Reading.of(true));
        node.process(18, 500, "python", IN_POD);
        node.namespaces(18, 18, 1);
        assertThat(owners.sharesNamespace(18, 0)).isEqualTo(Reading.of(false));
        node.process(19, 500, "python", IN_POD);
        assertThat(owners.sharesNamespace(19, 0)).isInstanceOf(Reading.Absent.class);
        assertThat(owners.sharesNamespace(20, 0)).isInstanceOf(Reading.Absent.class);
    }

    /** A caller could leave its connection to a child, and end: its number may then be that of a process of the node. */
    @Test
    void aProcessThatStartedAfterTheConnectionIsNotTheCaller() {
        node.process(17, 99_000 * 100, "sshd", "0::/system.slice/ssh.service");
        node.namespaces(17, 17);
        assertThat(owners.sharesNamespace(17, 500_000_000_000L)).isEqualTo(Reading.of(true));
        assertThat(owners.sharesNamespace(17, 2_000_000_000_000L)).isInstanceOf(Reading.Absent.class);
    }

    @Test
    void aPodIsNamedByTheFolderOfItsLogs() {
        node.process(17, 500, "python", IN_POD).pod("team-a", "trainer-0", UID, "main");
        assertThat(lookUp(17).owner())
                .isEqualTo(new Owner.Pod(
                        UID, Reading.of("team-a"), Reading.of("trainer-0"), Reading.of("main"), Reading.of(ID)));
    }

    @Test
    void aUsersCgroupNamesNoPodOfTheNode() {
        String posing = "0::/user.slice/user-1000.slice/user@1000.service/app.slice/kubepods-pod"
                + UID.replace('-', '_') + ".slice/cri-containerd-" + ID + ".scope";
        node.process(17, 500, "python", posing).pod("team-a", "trainer-0", UID, "main");
        assertThat(lookUp(17).owner()).isEqualTo(new Owner.Container("rootless-containerd", ID));
        assertThat(new PodProcesses(node.paths().procfs()).find(17, UID)).isEmpty();
    }

    @Test
    void podsOfANodeInAContainerAreBelowItsCgroup() throws IOException {
        String below = "0::/docker/" + "d".repeat(64);
        node.process(17, 500, "python", below + "/kubelet" + IN_POD.substring(3))
                .pod("team-a", "trainer-0", UID, "main");
        assertThat(lookUp(17).owner()).isInstanceOf(Owner.Container.class);
        Path self = Files.createDirectories(node.paths().procfs().resolve("self"));
        Files.writeString(self.resolve("cgroup"), below + "/system.slice/gpuwarden.service");
        Files.createDirectories(node.paths().procfs().resolve("1"));
        owners = new ProcessOwners(node.paths(), node.clock());
        assertThat(lookUp(17).owner()).isInstanceOf(Owner.Pod.class);
        assertThat(new PodProcesses(node.paths().procfs()).find(17, UID)).isPresent();
    }

    @Test
    void goneProcessHasACause() throws IOException {
        assertThat(lookUp(17).owner()).isEqualTo(unknown(ProcessOwners.GONE));
        node.process(17, 500, "python", IN_POD);
        assertThat(lookUp(17).owner()).isInstanceOf(Owner.Pod.class);
        node.end(17);
        assertThat(lookUp(17).owner()).isEqualTo(unknown(ProcessOwners.GONE));
    }

    @Test
    void reusedPidIsReadAgain() {
        node.process(17, 500, "python", "0::/system.slice/old.service");
        assertThat(lookUp(17).owner()).isEqualTo(new Owner.Unit("old.service"));
        node.process(17, 9_000_000, "sh", "0::/system.slice/new.service");
        assertThat(lookUp(17))
                .isEqualTo(new ProcessFacts(Reading.of(9_000_000L), Reading.of("sh"), new Owner.Unit("new.service")));
    }

    @Test
    void processStartedAfterTheDriversListIsAnother() {
        // Up for 100000 s, listed 10 s ago, began 5 s ago.
        node.process(17, 9_999_500, "sh", "0::/system.slice/bystander.service");
        assertThat(lookUp(17, 10).owner()).isEqualTo(unknown(ProcessOwners.REUSED));
        assertThat(lookUp(17, 2).owner()).isEqualTo(new Owner.Unit("bystander.service"));
    }

    @Test
    void stoppedUptimeIsNotTrusted() {
        node.advance(100);
        node.process(17, 10_000_000, "python", "0::/system.slice/train.service");
        assertThat(lookUp(17, 10).owner()).isEqualTo(new Owner.Unit("train.service"));
    }

    @Test
    void unchangedProcessIsNotReadAgain() throws IOException {
        node.process(17, 500, "python", "0::/system.slice/train.service");
        lookUp(17);
        Files.delete(node.resolve("proc/17/cgroup"));
        Files.delete(node.resolve("proc/17/comm"));
        assertThat(lookUp(17).owner()).isEqualTo(new Owner.Unit("train.service"));
        node.advance(61);
        assertThat(lookUp(17).owner()).isEqualTo(unknown(ProcessOwners.GONE));
    }

    @Test
    void unrequestedProcessesAreForgotten() throws IOException {
        node.process(17, 500, "python", "0::/system.slice/train.service");
        lookUp(17);
        lookUp(18);
        Files.delete(node.resolve("proc/17/cgroup"));
        assertThat(lookUp(17).owner()).isEqualTo(unknown(ProcessOwners.GONE));
    }

    @Test
    void privatePidNamespaceNamesNoProcess() throws IOException {
        node.process(17, 500, "python", "0::/system.slice/train.service");
        node.folder("proc/self/ns");
        Files.createSymbolicLink(node.resolve("proc/self/ns/pid"), Path.of("pid:[4026532177]"));
        owners = new ProcessOwners(node.paths(), node.clock());
        assertThat(lookUp(17).owner()).isEqualTo(unknown(ProcessOwners.OWN_NAMESPACE));
    }

    @Test
    void nodesPidNamespaceNamesProcesses() throws IOException {
        node.process(17, 500, "python", "0::/system.slice/train.service");
        node.folder("proc/self/ns");
        Files.createSymbolicLink(node.resolve("proc/self/ns/pid"), Path.of("pid:[4026531836]"));
        owners = new ProcessOwners(node.paths(), node.clock());
        assertThat(lookUp(17).owner()).isEqualTo(new Owner.Unit("train.service"));
    }

    @Test
    void hiddenProcessesAreNotReportedGone() {
        node.folder("proc/self");
        assertThat(lookUp(17).owner()).isEqualTo(unknown(ProcessOwners.HIDDEN));
    }

    @Test
    void ownProcessIsNamedOnTheRealNode() {
        ProcessOwners real =
                new ProcessOwners(NodePaths.of(Path.of("/proc"), Path.of("/sys"), Path.of("/var/log/pods")));
        int pid = (int) ProcessHandle.current().pid();
        assertThat(real.lookUp(Map.of(pid, 0L)).get(pid).owner())
                .isNotEqualTo(unknown(ProcessOwners.GONE))
                .isNotEqualTo(unknown(ProcessOwners.REUSED));
    }

    @ParameterizedTest
    @ValueSource(strings = {"a) S 1 2 3", "((", ") ) (", "x\ny", "\u001b[31m", "../../etc/passwd", "é\"\\"})
    void hostileCommandNamesDoNotMisleadTheParser(String command) {
        node.process(17, 500, command, "0::/system.slice/train.service");
        assertThat(lookUp(17))
                .isEqualTo(new ProcessFacts(Reading.of(500L), Reading.of(command), new Owner.Unit("train.service")));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "17", "17 (a", "17 (a) S 1 2", "17 (a) S 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 nine"})
    void incompleteStatLinesAreRefused(String stat) {
        assertThat(Procfs.field(stat, 22)).isInstanceOf(Reading.Absent.class);
    }

    @Test
    void hugeFilesAreReadInPart() {
        node.process(17, 500, "python", "1:x:/" + "a/".repeat(1 << 20) + "\n0::/system.slice/train.service");
        assertThat(lookUp(17).owner()).isInstanceOf(Owner.Unknown.class);
    }

    @Test
    void fiveHundredProcessesCostOneSmallFileEachAtRest() throws IOException {
        Map<Integer, Long> pids = new HashMap<>();
        for (int pid = 1000; pid < 1500; pid++) {
            node.process(pid, 500, "python", IN_POD);
            pids.put(pid, 0L);
        }
        assertThat(owners.lookUp(pids)).hasSize(500);
        for (int pid : pids.keySet()) {
            Files.delete(node.resolve("proc/" + pid + "/cgroup"));
            Files.delete(node.resolve("proc/" + pid + "/comm"));
        }
        assertThat(owners.lookUp(pids).values())
                .allSatisfy(facts -> assertThat(facts.owner()).isInstanceOf(Owner.Pod.class));
    }

    @Test
    void podFoldersAreListedAgainForAnUnknownPodOnly() throws IOException {
        node.process(17, 500, "python", IN_POD).pod("team-a", "trainer-0", UID, "main");
        lookUp(17);
        // Gone from disk, still known: the folder was not listed again.
        Files.move(node.resolve("log/pods"), node.resolve("log/away"));
        node.advance(30);
        assertThat(((Owner.Pod) lookUp(17).owner()).name()).isEqualTo(Reading.of("trainer-0"));
    }

    @Test
    void aPodThatAppearsLaterGetsItsName() {
        node.process(17, 500, "python", IN_POD).folder("log/pods");
        assertThat(((Owner.Pod) lookUp(17).owner()).name()).isInstanceOf(Reading.Absent.class);
        node.pod("team-a", "trainer-0", UID, "main");
        assertThat(((Owner.Pod) lookUp(17).owner()).name()).isInstanceOf(Reading.Absent.class);
        node.advance(3);
        assertThat(((Owner.Pod) lookUp(17).owner()).name()).isEqualTo(Reading.of("trainer-0"));
    }

    @Test
    void missingLogFolderIsTheCause() {
        node.process(17, 500, "python", IN_POD);
        assertThat(((Owner.Pod) lookUp(17).owner()).name())
                .isInstanceOfSatisfying(
                        Reading.Absent.class,
                        absent -> assertThat(absent.detail()).isEqualTo("cannot list " + node.resolve("log/pods")));
    }

    @Test
    void logNameSelectsAmongContainers() {
        node.process(17, 500, "python", IN_POD).pod("team-a", "trainer-0", UID, "main", "sidecar");
        assertThat(((Owner.Pod) lookUp(17).owner()).container()).isInstanceOf(Reading.Absent.class);
        node.containerLog("trainer-0_team-a_sidecar-" + ID + ".log");
        owners = new ProcessOwners(node.paths(), node.clock());
        assertThat(((Owner.Pod) lookUp(17).owner()).container()).isEqualTo(Reading.of("sidecar"));
    }

    @Test
    void laterContainerIsNotMistakenForTheFirst() {
        node.process(17, 500, "python", IN_POD).pod("team-a", "trainer-0", UID, "main");
        node.containerLog("trainer-0_team-a_main-" + ID + ".log");
        lookUp(17);
        String later = "d".repeat(64);
        node.process(18, 600, "python", IN_POD.replace(ID, later)).pod("team-a", "trainer-0", UID, "sidecar");
        node.containerLog("trainer-0_team-a_sidecar-" + later + ".log");
        assertThat(((Owner.Pod) lookUp(18).owner()).container()).isEqualTo(Reading.of("sidecar"));
    }

    @Test
    void containerOfAHiddenPodIsFoundByItsLog() {
        node.process(17, 500, "python", "0::/../cri-containerd-" + ID + ".scope")
                .pod("team-a", "trainer-0", UID, "main");
        node.containerLog("trainer-0_team-a_main-" + ID + ".log");
        assertThat(lookUp(17).owner())
                .isEqualTo(new Owner.Pod(
                        UID, Reading.of("team-a"), Reading.of("trainer-0"), Reading.of("main"), Reading.of(ID)));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "team_a_x_" + UID,
                "Team_trainer_" + UID,
                ".._.._" + UID,
                "-a_b_" + UID,
                "a_b_../" + UID,
                "a_b\n_" + UID,
                "a__" + UID
            })
    void foldersUnlikeTheKubeletsAreIgnored(String name) throws IOException {
        node.process(17, 500, "python", IN_POD);
        Files.createDirectories(node.resolve("log/pods").resolve(name));
        assertThat(((Owner.Pod) lookUp(17).owner()).name()).isInstanceOf(Reading.Absent.class);
    }

    @Test
    void linkedPodFolderIsNotListed() throws IOException {
        node.process(17, 500, "python", IN_POD);
        node.folder("elsewhere/secret");
        node.folder("log/pods");
        Files.createSymbolicLink(node.resolve("log/pods/a_b_" + UID), node.resolve("elsewhere"));
        Owner.Pod pod = (Owner.Pod) lookUp(17).owner();
        assertThat(pod.name()).isEqualTo(Reading.of("b"));
        assertThat(pod.container()).isInstanceOf(Reading.Absent.class);
    }
}
