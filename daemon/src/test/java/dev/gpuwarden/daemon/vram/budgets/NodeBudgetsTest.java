package dev.gpuwarden.daemon.vram.budgets;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.core.health.Snapshots;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.process.GpuProcess;
import dev.gpuwarden.core.process.MemoryUse;
import dev.gpuwarden.core.process.Owner;
import dev.gpuwarden.daemon.vram.VramView;
import dev.gpuwarden.watchdog.budget.Terms;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NodeBudgetsTest {

    private static final String NAMELESS = "0000000000000000000000000000000000000000000000000000000000000000";
    private static final String CONTAINER = "c".repeat(64);
    private static final long MIB = 1L << 20;

    @TempDir
    Path folder;

    private final GpuIdentity first = Snapshots.identity(0);
    private final GpuIdentity second = Snapshots.identity(1);
    private long nanos;
    private NodeBudgets budgets;

    @BeforeEach
    void read() throws IOException {
        Files.createDirectories(folder.resolve("fs/cgroup"));
        Files.writeString(folder.resolve("fs/cgroup/cgroup.procs"), "");
        budgets = read("""
                tenants:
                  - unit: immich-*.service
                    budget: 3000Mi
                    priority: 7
                  - container: llama-swap
                    budget: 5Gi
                  - slurm: "*"
                    budget: 4G
                  - process: ffmpeg
                    budget: 512Mi
                    gpu: 1
                    exempt: true
                  - unit: reserved.service
                    budget: 1Gi
                    gpu: 0
                """);
    }

    private NodeBudgets read(String yaml) throws IOException {
        Path file = Files.writeString(folder.resolve("budgets.yaml"), yaml);
        ContainerNames names = container -> container.containerId().equals(CONTAINER)
                ? Reading.of("llama-swap")
                : container.containerId().equals(NAMELESS)
                        ? Reading.absent(Absence.FAILED, 0, "its name is unknown: the answer is too long")
                        : Reading.absent(Absence.NO_DATA);
        return NodeBudgets.read(file, names, folder.resolve("proc"), folder, () -> nanos);
    }

    private static MemoryUse process(String command, Owner owner) {
        Reading<Integer> whole = Reading.absent(Absence.NOT_SUPPORTED);
        GpuProcess process = new GpuProcess(999_999, GpuProcess.Type.COMPUTE, Reading.of(MIB), whole, whole);
        return new MemoryUse(process, Reading.of(10L), Reading.of(command), owner);
    }

    private Optional<Long> budget(GpuIdentity gpu, String command, Owner owner) {
        return budgets.of(gpu, process(command, owner))
                .flatMap(terms -> terms.budgetBytes().asOptional());
    }

    /** The metric of unreadable budgets counts it, and 'vram top' has the cause. */
    @Test
    void aContainerWhoseNameIsUnknownHasAnUnreadableBudget() {
        Owner nameless = new Owner.Container("docker", NAMELESS);
        Terms terms = budgets.of(first, process("python", nameless)).orElseThrow();
        assertThat(terms.id()).isEqualTo("docker:" + NAMELESS);
        assertThat(VramView.isUnreadable(terms.budgetBytes())).isTrue();
        assertThat(terms.budgetBytes().toString()).contains("the answer is too long");
        assertThat(budget(first, "python", new Owner.Container("docker", CONTAINER)))
                .isPresent();
        assertThat(budgets.of(first, process("python", new Owner.Container("docker", "e".repeat(64)))))
                .isEmpty();
    }

    @Test
    void namesThatStrangersChooseHaveNoBudget() {
        assertThat(budget(second, "ffmpeg", new Owner.Guest("lxc", "ct1"))).isEmpty();
        assertThat(budget(first, "python", new Owner.Guest("lxc", "immich-ml.service")))
                .isEmpty();
        assertThat(budget(first, "python", new Owner.BatchJob("pbs", "4411.srv")))
                .isEmpty();
        assertThat(budget(first, "python", new Owner.Container("rootless-docker", CONTAINER)))
                .isEmpty();
    }

    @Test
    void eachKindOfTenantHasItsBudget() {
        assertThat(budget(first, "python", new Owner.Unit("immich-ml.service"))).contains(3000 * MIB);
        assertThat(budget(first, "python", new Owner.Container("docker", CONTAINER)))
                .contains(5L << 30);
        assertThat(budget(first, "python", new Owner.SlurmJob("4711", "batch"))).contains(4_000_000_000L);
        assertThat(budget(second, "ffmpeg", new Owner.Unknown("in the root cgroup")))
                .contains(512 * MIB);
    }

    @Test
    void aTenantGetsASignalOnlyWhereItsEntryNamesOne() throws IOException {
        budgets = read("""
                tenants:
                  - unit: a.service
                    budget: 1Gi
                    notify: SIGUSR1
                  - unit: b.service
                    budget: 1Gi
                """);
        budget(first, "python", new Owner.Unit("a.service"));
        budget(first, "python", new Owner.Unit("b.service"));
        assertThat(budgets.signal(first.selector(), "unit:a.service")).contains(NotifySignal.SIGUSR1);
        assertThat(budgets.signal(second.selector(), "unit:a.service")).isEmpty();
        assertThat(budgets.signal(first.selector(), "unit:b.service")).isEmpty();
    }

    @Test
    void othersHaveNone() {
        Reading<String> text = Reading.of("x");
        assertThat(budget(first, "python", new Owner.Unit("immich.service"))).isEmpty();
        assertThat(budget(first, "python", new Owner.Container("docker", "d".repeat(64))))
                .isEmpty();
        assertThat(budget(first, "ffmpeg", new Owner.Unit("x.service"))).isEmpty();
        assertThat(budget(second, "ffmpeg", new Owner.Pod("uid", text, text, text, text)))
                .isEmpty();
    }

    @Test
    void termsHavePriorityExemptionAndAnIdentityThatSelectsTheWayToRecycle() {
        Terms unit = budgets.of(first, process("python", new Owner.Unit("immich-ml.service")))
                .orElseThrow();
        assertThat(unit.id()).isEqualTo("unit:immich-ml.service");
        assertThat(unit.priority()).isEqualTo(7);
        assertThat(unit.exempt()).isEmpty();
        Terms container = budgets.of(first, process("python", new Owner.Container("docker", CONTAINER)))
                .orElseThrow();
        assertThat(container.id()).isEqualTo("docker:" + CONTAINER);
        assertThat(container.workload()).isEqualTo("container:llama-swap");
        Terms exempt = budgets.of(second, process("ffmpeg", new Owner.Unit("x.service")))
                .orElseThrow();
        assertThat(exempt.exempt()).contains("the file of budgets exempts it");
    }

    @Test
    void aTenantWithoutMemoryKeepsItsPromiseForFiveMinutesOnThatGpu() {
        assertThat(budgets.expected(second)).isEmpty();
        budgets.of(second, process("ffmpeg", new Owner.Unit("x.service")));
        nanos += Duration.ofMinutes(5).toNanos() - 1;
        assertThat(budgets.expected(second)).extracting(Terms::id).containsExactly("process:ffmpeg");
        assertThat(budgets.expected(first)).isEmpty();
        nanos++;
        assertThat(budgets.expected(second)).isEmpty();
    }

    @Test
    void aUnitKeepsItsPromiseWhileItRuns() throws IOException {
        budgets.of(first, process("python", new Owner.Unit("immich-ml.service")));
        nanos += Duration.ofHours(1).toNanos();
        assertThat(budgets.expected(first)).isEmpty();
        Path units = folder.resolve("fs/cgroup/system.slice");
        Files.createDirectories(units.resolve("immich-ml.service"));
        Files.createDirectories(units.resolve("reserved.service"));
        assertThat(budgets.expected(first))
                .extracting(Terms::id)
                .containsExactly("unit:immich-ml.service", "unit:reserved.service");
        assertThat(budgets.expected(second)).isEmpty();
    }

    /** Returns the path of a group below its tree of cgroup v2, made for this process. */
    private Path group(int pid, String path) throws IOException {
        Path file = Files.createDirectories(folder.resolve("proc/" + pid)).resolve("cgroup");
        Files.writeString(file, "0::" + path + "/step_batch/task_0\n");
        return Files.createDirectories(folder.resolve("fs/cgroup" + path));
    }

    private Path job(int pid, String number) throws IOException {
        Path group = group(pid, "/system.slice/slurmstepd.scope/job_" + number);
        see(pid, new Owner.SlurmJob(number, "batch"));
        return group;
    }

    private Path container(int pid, String letter) throws IOException {
        String id = letter.repeat(64);
        Path group = group(pid, "/system.slice/docker-" + id + ".scope");
        see(pid, new Owner.Container("docker", id));
        return group;
    }

    private void see(int pid, Owner owner) {
        Reading<Integer> whole = Reading.absent(Absence.NOT_SUPPORTED);
        GpuProcess process = new GpuProcess(pid, GpuProcess.Type.COMPUTE, Reading.of(MIB), whole, whole);
        assertThat(budgets.of(first, new MemoryUse(process, Reading.of(10L), Reading.of("python"), owner)))
                .isPresent();
    }

    private List<String> promised() {
        return budgets.expected(first).stream()
                .filter(terms -> terms.budgetBytes() instanceof Reading.Present<Long>)
                .map(Terms::id)
                .toList();
    }

    @Test
    void jobsThatHaveEndedPromiseNothing() throws IOException {
        for (int i = 1; i <= 10; i++) {
            Path group = job(i, Integer.toString(i));
            assertThat(promised()).containsExactly("slurm:" + i);
            Files.delete(group);
            assertThat(promised()).isEmpty();
            nanos += Duration.ofSeconds(18).toNanos();
        }
    }

    @Test
    void aJobThatHoldsNothingForAMomentKeepsItsPromise() throws IOException {
        job(1, "4711");
        nanos += Duration.ofMinutes(4).toNanos();
        assertThat(promised()).containsExactly("slurm:4711");
    }

    @Test
    void aContainerThatStartsAgainHasOnePromise() throws IOException {
        budgets = read("""
                tenants:
                  - container: "*"
                    budget: 1Gi
                """);
        Files.delete(container(1, "a"));
        assertThat(promised()).as("it may start again").containsExactly("docker:" + "a".repeat(64));
        nanos += Duration.ofSeconds(18).toNanos();
        Path second = container(2, "b");
        assertThat(promised()).as("with another ID").containsExactly("docker:" + "b".repeat(64));
        Files.delete(second);
        nanos += Duration.ofSeconds(18).toNanos();
        Path third = container(3, "c");
        assertThat(promised()).containsExactly("docker:" + "c".repeat(64));
        container(4, "d");
        assertThat(promised()).hasSize(2);
        Files.delete(third);
        nanos += Duration.ofMinutes(5).toNanos();
        assertThat(promised()).as("for five minutes").isEmpty();
    }

    @Test
    void aPromiseOfAnOwnerThatIsNotVisibleDoesNotCount() throws IOException {
        budgets.of(first, process("python", new Owner.SlurmJob("4711", "batch")));
        assertThat(promised()).isEmpty();
        assertThat(budgets.expected(first))
                .singleElement()
                .extracting(Terms::budgetBytes)
                .asString()
                .contains("its budget promises nothing: whether it still exists is unknown");
        job(2, "4712");
        Path tree = folder.resolve("fs");
        Files.move(tree, folder.resolve("unmounted"));
        assertThat(promised()).as("nothing found is not nothing there").isEmpty();
        assertThat(budgets.expected(first)).extracting(Terms::id).contains("slurm:4712");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{unit: a, budget: 3000} | :2: budget: expected a size with its unit, such as 3000Mi or 5G, seen '3000'",
                "{unit: a, budget: -1Gi} | :2: budget: expected a whole number of at least 0, seen '-1Gi'",
                "{unit: a} | :2: expected the key budget",
                "{unit: a, process: b, budget: 1Gi} | :2: expected one of unit, container, slurm, process; seen 2",
                "{budget: 1Gi} | :2: expected one of unit, container, slurm, process; seen 0",
                "{unit: a, budget: 1Gi, notify: SIGKILL} | :2: notify: expected one of SIGHUP, SIGUSR1, SIGUSR2, but was 'SIGKILL'",
                "{unit: a, budget: 1Gi, exempt: yes} | :2: exempt: expected true or false, but was 'yes'",
                "{unit: a, budgets: 1Gi} | :2: unknown key budgets, did you mean budget?",
            })
    void aWrongEntryIsNamedWithItsLine(String entry, String error) {
        assertThatThrownBy(() -> read("tenants:\n  - " + entry + "\n"))
                .isInstanceOf(UserError.class)
                .hasMessage(folder.resolve("budgets.yaml") + error);
    }

    @Test
    void oneTenantIsNotListedTwice() {
        assertThatThrownBy(() -> read("tenants:\n  - {unit: a, budget: 1Gi}\n  - {unit: a, budget: 2Gi}\n"))
                .hasMessageEndingWith(":3: unit: 'a' is listed twice");
        assertThatThrownBy(() -> read("tenants: []\n")).hasMessageContaining("tenants: expected 1 to 512, seen 0");
    }
}
