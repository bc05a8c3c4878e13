package dev.gpuwarden.daemon.kernlog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.testkit.TestClock;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RuleFileTest {

    @TempDir
    Path folder;

    private Rules rules(String... lines) {
        try {
            return RuleFile.read(Files.writeString(folder.resolve("rules.yaml"), String.join("\n", lines) + "\n"));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private ClassifierFixture log(String... lines) {
        return new ClassifierFixture(rules(lines)).driverLists("0000:3b:00.0", ClassifierFixture.GPU);
    }

    private static String xid(String code) {
        return "NVRM: Xid (PCI:0000:3b:00): " + code + ", pid=7, name=a, what";
    }

    @Test
    void ruleOverridesTheCatalogue() {
        ClassifierFixture log = log(
                "codes:",
                "  - xid: 79",
                "    action: restart-vm",
                "  - {xid: 13, severity: fatal}",
                "  - {xid: 48, severity: warning}",
                "  - {xid: 31, ignore: true}",
                "  - {sxid: 20034, severity: info}",
                "  - {message: nic-link-up, severity: warning}",
                "  - {fallen-off-bus: true, action: contact-support}");
        log.kernel(xid("79")).kernel(xid("13")).kernel(xid("48")).kernel(xid("31"));
        log.kernel("nvidia-nvswitch3: SXid (PCI:0000:04:00.0): 20034, Fatal, Link 48 LTSSM Fault Up");
        log.kernel("mlx5_core 0000:1a:00.0 ib0: Link up");
        log.kernel("NVRM: GPU 0000:4b:00.0: GPU has fallen off the bus.");
        assertThat(log.flush())
                .extracting(event -> event.errorCodes().get(0) + " " + event.fatal() + " " + event.action())
                .containsExactly(
                        "79 true RESTART_VM",
                        "13 true CONTACT_SUPPORT",
                        "48 false NONE",
                        "nic-link-up false NONE",
                        log.store.events().get(4).errorCodes().get(0) + " true CONTACT_SUPPORT");
        assertThat(log.stats().silent()).isEqualTo(2);
    }

    @Test
    void thresholdCountsOccurrencesPerGpuWithinItsTime() {
        ClassifierFixture log = log(
                "codes:",
                "  - {xid: 94, count: 3, within: 10m, action: restart-vm}",
                "  - {xid: 94, severity: warning}");
        log.kernel(xid("94")).flush();
        log.kernel(xid("94").replace("3b", "3c")).flush();
        log.after(Duration.ofMinutes(6)).kernel(xid("94")).flush();
        assertThat(log.store.events()).noneMatch(HealthEvent::fatal);
        log.after(Duration.ofMinutes(5)).kernel(xid("94")).flush();
        assertThat(log.store.events()).as("the first of the three is too old").noneMatch(HealthEvent::fatal);
        log.after(Duration.ofMinutes(1)).kernel(xid("94")).flush();
        assertThat(log.store.events())
                .filteredOn(HealthEvent::fatal)
                .singleElement()
                .satisfies(event -> assertThat(event.action()).isEqualTo(RecommendedAction.RESTART_VM));
        // A single one a day later does not make the fault less.
        log.after(Duration.ofDays(1)).kernel(xid("94")).flush();
        assertThat(log.store.faults())
                .filteredOn(fault -> fault.key().entity().value().equals("0000:3b:00"))
                .allMatch(fault -> fault.cause().fatal());
    }

    @Test
    void ruleMatchesAnXidOrOneOfItsUnits() {
        String line = "NVRM: Xid (PCI:0000:3b:00): 145, RLW_REMAP Nonfatal XC1 i0 Link 10 (0x00000004 0x00000040"
                + " 0x00000000 0x00000000 0x00000000 0x00000000)";
        String code = log("codes: []").kernel(line).flush().get(0).errorCodes().get(0);
        assertThat(code).startsWith("145.");
        assertThat(log("codes: [{xid: " + code + ", ignore: true}]")
                        .kernel(line)
                        .flush())
                .isEmpty();
        assertThat(log("codes: [{xid: 145, ignore: true}]").kernel(line).flush())
                .isEmpty();
        assertThat(log("codes: [{xid: 14, ignore: true}]").kernel(line).flush()).hasSize(1);
    }

    @Test
    void patternYieldsItsOwnEvent() {
        ClassifierFixture log = log(
                "patterns:",
                "  - code: nvme-timeout",
                "    contains: nvme",
                "    pattern: 'nvme (?<pci>[0-9a-f:.]+): I/O \\d+ .*timeout'",
                "    check: NvmeTimeout",
                "    component-class: NODE",
                "    severity: fatal",
                "    action: restart-bm",
                "    message: a disk does not answer",
                "  - {code: late, contains: '0x', pattern: 'late (0x[0-9a-f]+)'}".replace("'0x'", "late"));
        log.kernel("nvme 0000:01:00.0: I/O 7 QID 1 timeout, aborting")
                .kernel("nvme is fine")
                .kernel("late 0xff");
        List<HealthEvent> events = log.flush();
        assertThat(events).hasSize(2);
        HealthEvent first = events.get(0);
        assertThat(first.checkName()).isEqualTo("NvmeTimeout");
        assertThat(first.componentClass()).isEqualTo("NODE");
        assertThat(first.errorCodes()).containsExactly("nvme-timeout");
        assertThat(first.action()).isEqualTo(RecommendedAction.RESTART_BM);
        assertThat(first.entities().get(0).value()).isEqualTo("0000:01:00");
        assertThat(first.message())
                .isEqualTo("a disk does not answer: nvme 0000:01:00.0: I/O 7 QID 1 timeout, aborting");
        assertThat(events.get(1).checkName()).isEqualTo("SysLogsDriverError");
        assertThat(events.get(1).fatal()).isFalse();
        log.reboot();
        log.flush();
        assertThat(log.store.faults()).isEmpty();
    }

    @Test
    void patternMatchesRecordsOfTheKernelOnly() {
        ClassifierFixture log = log("patterns: [{code: a, contains: abc, pattern: abc}]");
        log.record(dev.gpuwarden.core.kernel.KernelRecord.Writer.USER, TestClock.START, "abc");
        assertThat(log.flush()).isEmpty();
    }

    @Test
    void endlessPatternIsCutOff() {
        Rules rules = rules(
                "patterns: [{code: a, contains: aaa, pattern: 'a*a*a*a*a*c'}, {code: b, contains: aaa, pattern: '(?:a|b)*c'}]");
        ClassifierFixture log = new ClassifierFixture(rules);
        log.kernel("a".repeat(900) + "b");
        assertThat(log.flush()).isEmpty();
        assertThat(rules.patterns().get(0).pattern().cutOff()).isEqualTo(1);
    }

    @Test
    void thresholdCountsAreBounded() {
        ClassifierFixture log = log("codes: [{xid: 94, count: 1000, within: 365d, action: restart-vm}]");
        IntStream.range(0, 100_000).forEach(i -> log.kernel(xid("94").replace("3b", String.format("%02x", i % 251))));
        assertThat(log.store.events()).isEmpty();
        assertThat(log.flush()).isNotEmpty();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    codes: [{xid: 79}]                                            | :1: expected either ignore: true
                    codes: [{xid: 79, ignore: true, severity: info}]              | :1: expected either ignore: true
                    codes: [{xid: 79, sxid: 1, ignore: true}]                     | found xid and sxid
                    codes: [{ignore: true}]                                       | found none
                    codes: [{xid: seventy, ignore: true}]                         | :1: xid: expected a code such as 79
                    codes: [{xid: 79, severty: info}]                             | unknown key severty, did you mean severity?
                    code: []                                                      | unknown key code, did you mean codes?
                    codes: [{xid: 79, severity: bad}]                             | expected info, warning or fatal, but was 'bad'
                    codes: [{xid: 79, action: reboot}]                            | restart-bm
                    codes: [{xid: 79, severity: fatal, action: none}]             | a fatal fault asks for an action
                    codes: [{xid: 79, severity: warning, action: restart-bm}]     | only a fatal fault asks for an action
                    codes: [{xid: 79, ignore: maybe}]                             | expected true or false, but was 'maybe'
                    codes: [{xid: 79, ignore: true, count: 3}]                    | count and within go together
                    codes: [{xid: 79, ignore: true, count: 1, within: 1h}]        | expected 2 to 1000, but was 1
                    codes: [{xid: 79, ignore: true, count: 3, within: 1 hour}]    | is not a duration
                    codes: [{xid: 79, ignore: true, count: 3, within: 0}]         | more than 0
                    codes: [{xid: 79, xid: 80, ignore: true}]                     | duplicate key xid
                    codes: {xid: 79}                                              | codes: expected a list
                    codes: [79]                                                   | expected keys with values
                    patterns: [{code: a, contains: abc}]                          | expected the key pattern
                    patterns: [{code: a, contains: ab, pattern: ab}]              | at least 3 characters
                    patterns: [{code: a, contains: abc, pattern: '(abc'}]         | not a regular expression: Unclosed group
                    patterns: [{code: a b, contains: abc, pattern: abc}]          | expected a name such as nvme-timeout
                    patterns: [{code: a, contains: abc, pattern: abc, check: '1'}] | check: expected a name
                    patterns: [{code: a, contains: abc, pattern: abc, component-class: gpu}] | expected GPU, NIC, NVSWITCH or NODE
                    codes: [                                                      | not YAML
                    """)
    void errorNamesItsLine(String text, String problem) {
        assertThatThrownBy(() -> rules(text))
                .isInstanceOf(UserError.class)
                .hasMessageContaining(problem)
                .hasMessageStartingWith(folder.resolve("rules.yaml").toString());
    }

    @Test
    void errorNamesTheLineOfTheKey() {
        assertThatThrownBy(() -> rules("codes:", "  - xid: 79", "    ignore: true", "  - xid: 80", "    sevrity: info"))
                .hasMessageContaining("rules.yaml:5: unknown key sevrity");
    }

    @Test
    void missingFileStopsTheStart() {
        KernelLogSettings settings = new KernelLogSettings();
        settings.rules = folder.resolve("none.yaml");
        assertThatThrownBy(settings::validate).isInstanceOf(UserError.class).hasMessageContaining("no such file");
    }
}
