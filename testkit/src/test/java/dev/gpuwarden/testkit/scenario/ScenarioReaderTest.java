package dev.gpuwarden.testkit.scenario;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.testkit.scenario.Scenarios.ScenarioReader;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ScenarioReaderTest {

    private static final Vocabulary VOCABULARY = new Vocabulary(
            Set.of("nvmlDeviceGetName", "nvmlDeviceGetTemperature", "cuMemAlloc_v2"), Set.of("not-utf8", "zero"));

    private static Scenario read(String text) {
        return ScenarioReader.read("mine", "mine.yaml", text, VOCABULARY);
    }

    @Test
    void readsAllKeys() {
        Scenario scenario = read("""
                description: all of it
                driver: 535.54
                node: {init: 18, cuda-version: 12.1}
                gpus:
                  - profile: h100-sxm5-80gb
                    count: 2
                    set: {temperature: 41C, power: {usage: 0.5W}, nvlink.5.state: down}
                  - profile: a100-sxm4-80gb
                    mig: [3g.40gb, 1g.10gb]
                processes:
                  - {pid: 10, gpu: all, bytes: 1.5GiB}
                  - {pid: 20, count: 3, gpu: 2, mig: 1, bytes: absent, pod: {name: "job-{n}", namespace: ml}}
                faults:
                  - {function: nvmlDeviceGetName, gpu: 1, lie: not-utf8}
                  - {name: slow, delay: 1m30s}
                pci:
                  - {address: "0000:1a:00.0", device: 0x22a3, class: 0x068000}
                set:
                  gpu.1.state: lost
                  gpu.all.clock.reasons: [hw-slowdown, hw-thermal]
                timeline:
                  - at: 10s
                    clear: slow
                  - at: 500ms
                    set: {process.10.bytes: 2GiB}
                    fault: {name: gone, error: gpu-lost, gpu: 0}
                    stop: [20, 21]
                """);
        assertThat(scenario.driver()).isEqualTo(Generation.D535_54);
        assertThat(scenario.node()).extracting(s -> s.key().name()).containsExactly("init", "cuda-version");
        assertThat(scenario.gpus()).hasSize(3);
        assertThat(scenario.gpus().get(0).settings())
                .extracting(s -> s.key().name(), Setting::element, Setting::value)
                .containsExactly(
                        org.assertj.core.groups.Tuple.tuple("temperature", -1, Value.Numbers.of(41)),
                        org.assertj.core.groups.Tuple.tuple("power.usage", -1, Value.Numbers.of(500)),
                        org.assertj.core.groups.Tuple.tuple("nvlink.state", 5, Value.Numbers.of(0)));
        assertThat(scenario.gpus().get(2).partitions())
                .extracting(MigProfile::id)
                .containsExactly(9, 19);
        assertThat(scenario.processes()).extracting(SimProcess::pid).containsExactly(10, 20, 21, 22);
        assertThat(scenario.processes().get(0).gpus()).containsExactly(0, 1, 2);
        assertThat(scenario.processes().get(0).bytes()).hasValue(3L << 29);
        assertThat(scenario.processes().get(1).bytes()).isEmpty();
        assertThat(((ProcessOwner.Pod) scenario.processes().get(3).owner()).name())
                .isEqualTo("job-2");
        assertThat(scenario.faults()).extracting(Fault::name).containsExactly("faults[0]", "slow");
        assertThat(scenario.faults().get(1).delay()).isEqualTo(Duration.ofSeconds(90));
        assertThat(scenario.pci().get(0).classCode()).isEqualTo(0x068000);
        assertThat(scenario.changes()).hasSize(2);
        assertThat(((Change.SetGpu) scenario.changes().get(1)).setting().value())
                .isEqualTo(Value.Numbers.of(0x48));
        assertThat(scenario.timeline())
                .extracting(Scenario.Step::at)
                .containsExactly(Duration.ofMillis(500), Duration.ofSeconds(10));
        assertThat(scenario.timeline().get(0).changes()).hasSize(4);
    }

    private static final String GPU = "gpus: [{profile: t4}]\n";

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    gpu: []                                         | mine.yaml:1:1: scenario: expected a known key, saw "gpu"; did you mean "gpus"?
                    gpus: 8                                         | mine.yaml:1:7: gpus: expected a list, saw "8"
                    gpus: [{profile: h100}]                         | mine.yaml:1:18: gpus[0].profile: expected a board, saw "h100"; known: t4, l4,
                    gpus: [{profile: t4, count: 65}]                | mine.yaml:1:29: gpus[0].count: expected a whole number from 1 to 64, saw "65"
                    gpus: [{profile: t4, mig: [1g.5gb]}]            | mine.yaml:1:28: gpus[0].mig: expected a partition of t4, saw "1g.5gb"
                    gpus: [{profile: t4, set: {temperatur: 3}}]     | mine.yaml:1:28: gpus[0].set: expected a known key, saw "temperatur"; did you mean "temperature"?
                    gpus: [{profile: t4, set: {temperature: hot}}]  | mine.yaml:1:41: gpus[0].set.temperature: expected degrees, for example 91C, or absent, saw "hot"
                    gpus: [{profile: t4, set: {ecc: {mode: on, mode: off}}}] | mine.yaml:1:44: gpus[0].set: expected every key once, saw "mode" again
                    gpus: [{profile: t4, set: {ecc.mode: on, ecc: {mode: off}}}] | mine.yaml:1:48: gpus[0].set: expected every key once, saw "ecc.mode" again
                    driver: 555                                     | mine.yaml:1:9: driver: expected one of 470, 535.54, 535.161, 550, 580, 615, saw "555"; did you mean
                    gpus: [                                         | mine.yaml:2:1: YAML: expected a readable document
                    [1]                                             | mine.yaml:1:1: scenario: expected a mapping, saw a list
                    gpus: &x [*x]                                   | expected a mapping, saw a list
                    """)
    void mistakeIsReportedWithPlaceAndSuggestion(String text, String message) {
        assertThatThrownBy(() -> read(text + "\n"))
                .isInstanceOf(UserError.class)
                .hasMessageContaining(message);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    processes: [{pid: 5, gpu: 1, bytes: 1B}]                      | mine.yaml:2:27: processes[0].gpu: expected a whole number from 0 to 0, saw "1"
                    processes: [{gpu: 0, bytes: 1B}]                              | mine.yaml:2:13: processes[0]: expected the key "pid", saw none
                    processes: [{pid: 5, gpu: 0, bytes: 1B}, {pid: 5, gpu: 0, bytes: 1B}] | mine.yaml:2:42: processes[1]: expected a pid of its own, saw 5 again
                    processes: [{pid: 5, gpu: 0, bytes: 1 apple}]                 | expected a size, for example 30GiB, or absent, saw "1 apple"
                    processes: [{pid: 5, gpu: 0, bytes: 1B, mig: 0}]              | expected one of the 0 partitions of GPU 0, saw partition 0
                    processes: [{pid: 5, gpu: 0, bytes: 1B, unit: a.service, cgroup: /x}] | processes[0].cgroup: expected one owner, and "unit" is given too
                    processes: [{pid: 5, gpu: 0, bytes: 1B, pod: {name: A_b}}]    | processes[0].pod.name: expected a pod's name
                    processes: [{pid: 5, gpu: 0, bytes: 1B, pod: {name: a, uid: 12}}] | processes[0].pod.uid: expected a pod UID
                    processes: [{pid: 5, gpu: 0, bytes: 1B, pod: {name: a, runtime: podman}}] | podman's containers are "container"
                    processes: [{pid: 5, gpu: 0, bytes: 1B, pod: {name: a, cgroup: v3}}] | expected one of v1, v2, saw "v3"; did you mean "v1"?
                    faults: [{gpu: 0}]                                            | mine.yaml:2:10: faults[0]: expected exactly one of error, hang, delay, lie
                    faults: [{gpu: 0, hang: yes, error: 15}]                      | faults[0]: expected exactly one of error, hang, delay, lie
                    faults: [{hang: no}]                                          | faults[0].hang: expected yes, saw "no"
                    faults: [{error: 0}]                                          | faults[0].error: expected a code other than 0
                    faults: [{function: nvmlDeviceGetNam, error: 15}]             | mine.yaml:2:21: faults[0].function: expected a function of the driver library, saw "nvmlDeviceGetNam"; did you mean "nvmlDeviceGetName"?
                    faults: [{lie: zeroo}]                                        | expected a way to lie, saw "zeroo"; did you mean "zero"?
                    set: {gpu.1.state: lost}                                      | mine.yaml:2:7: set: expected a GPU below 1, saw "gpu.1.state"
                    set: {gpu.0.state: dead}                                      | gpu.0.state: expected one of ok, lost, reset-required, unlisted, or absent, saw "dead"
                    set: {gpus.0.state: lost}                                     | expected gpu.N.KEY, nic.N.KEY, node.KEY, fault.NAME or process.PID, saw "gpus.0.state"
                    set: {node.ini: 9}                                            | expected a known key, saw "ini"; did you mean "init"?
                    timeline: [{set: {gpu.0.state: lost}}]                        | timeline[0]: expected the key "at", saw none
                    timeline: [{at: 10, clear: x}]                                | timeline[0].at: expected a time, for example 10s or 1m30s, saw "10"
                    timeline: [{at: 10s}]                                         | timeline[0]: expected at least one of set, fault, clear, start, stop
                    timeline: [{at: 10s, fault: {hang: yes}}]                     | timeline[0].fault: expected a name, so that it can be cleared
                    pci: [{address: here}]                                        | mine.yaml:2:17: pci[0].address: expected a PCI address, saw "here"
                    """)
    void invalidValueIsReportedWithPlace(String text, String message) {
        assertThatThrownBy(() -> read(GPU + text + "\n"))
                .isInstanceOf(UserError.class)
                .hasMessageContaining(message);
    }

    @Test
    void allMistakesAreReported() {
        assertThatThrownBy(() -> read("""
                        driver: 600
                        gpus: [{profile: t4}, {profile: t5}]
                        faults: [{gpu: 7, hang: yes}, {lie: x}]
                        """))
                .satisfies(e -> assertThat(String.valueOf(e.getMessage())
                                .lines()
                                .map(line -> line.split(":")[1])
                                .toList())
                        .isEqualTo(List.of("1", "2", "3", "3")));
    }

    @Test
    void textOfFileIsEscaped() {
        assertThatThrownBy(() -> read("driver: \"\\e[31mred\"\ngpus: []\n")).hasMessageContaining("\\u001b[31mred");
    }

    @Test
    void recursiveAliasIsRefused() {
        assertThatThrownBy(() -> read("gpus: []\nset: &a\n  b: *a\n")).isInstanceOf(UserError.class);
        assertThatThrownBy(() -> read("gpus:\n- profile: t4\n  set: &a\n    power: *a\n"))
                .isInstanceOf(UserError.class)
                .hasMessageContaining("at most 16 levels");
    }

    @Test
    void codesOfCudaAreNoCodesOfNvml() {
        String faults =
                "description: x\ndriver: 550\ngpus: [{profile: t4}]\nfaults: [{name: %s, function: %s, error: 2}]";
        assertThat(read(faults.formatted("a", "nvmlDeviceGetName"))
                        .faults()
                        .get(0)
                        .effect())
                .isEqualTo("error invalid-argument");
        assertThat(read(faults.formatted("a", "cuMemAlloc_v2")).faults().get(0).effect())
                .isEqualTo("error 2");
    }
}
