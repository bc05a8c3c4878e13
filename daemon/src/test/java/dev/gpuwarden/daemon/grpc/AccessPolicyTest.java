package dev.gpuwarden.daemon.grpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gpuwarden.checks.process.CallingProcess;
import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.process.Owner;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The three powers: to ask is not to report, and to report is not to end. */
class AccessPolicyTest {

    private static final Owner SHELL = new Owner.Unit("session-3.scope");
    private static final Owner UNIT = new Owner.Unit("dcgm-check.service");
    private static final Owner POD = pod("monitoring", "dcgm-abcde");
    private static final Owner CONTAINER = new Owner.Container("docker", "a".repeat(64));
    private static final Owner GONE = new Owner.Unknown("no such process");
    private static final Reading<Boolean> NODE = Reading.of(true);
    private static final Reading<Boolean> OTHER = Reading.of(false);
    private static final Reading<Boolean> UNSEEN = Reading.absent(Absence.NO_DATA, 0, "not visible");

    static Stream<Arguments> callers() {
        return Stream.of(
                Arguments.of("root", 0, SHELL, NODE, true, true, true),
                Arguments.of("the daemon's user", 998, UNIT, NODE, true, true, true),
                Arguments.of("an administrator", 1000, SHELL, NODE, true, true, true),
                Arguments.of("a batch user", 1001, SHELL, NODE, false, false, false),
                Arguments.of("a batch job", 1001, new Owner.SlurmJob("7", "batch"), NODE, false, false, false),
                Arguments.of("root in a batch pod", 0, pod("batch", "train-0"), OTHER, false, true, false),
                Arguments.of("an administrator's number in a pod", 1000, POD, OTHER, false, true, false),
                Arguments.of("a monitor's pod", 65534, POD, OTHER, false, true, false),
                Arguments.of("a monitor's pod with hostPID", 0, POD, NODE, true, true, true),
                Arguments.of("a monitor's unit", 65534, UNIT, NODE, false, false, false),
                Arguments.of("root in a container", 0, CONTAINER, OTHER, false, true, false),
                Arguments.of("root that is not visible", 0, GONE, UNSEEN, false, true, false),
                Arguments.of("a user that is not visible", 65534, GONE, UNSEEN, false, false, false));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("callers")
    void reportAndAdministerAreTwoPermissions(
            String who,
            int uid,
            Owner owner,
            Reading<Boolean> ofNode,
            boolean reportsOnQueries,
            boolean reportsOnEvents,
            boolean administers) {
        AccessPolicy access = access(ReporterRules.DEFAULT, uid, owner, ofNode);
        Peer peer = new Peer.Process(7, uid, uid, 0);
        assertThat(reports(access, peer, false)).isEqualTo(reportsOnQueries);
        assertThat(reports(access, peer, true)).isEqualTo(reportsOnEvents);
        assertThat(access.mayAdminister(peer)).isEqualTo(administers);
    }

    @Test
    void aCertificateReportsAndAdministersAndAClientWithoutDoesNeither() {
        AccessPolicy access = access(ReporterRules.DEFAULT, 0, SHELL, NODE);
        assertThat(access.report(new Peer.Certified("CN=operator"), false)
                        .reporter()
                        .orElseThrow()
                        .kind())
                .isEqualTo("certificate CN=operator");
        assertThat(access.mayAdminister(new Peer.Certified("CN=operator"))).isTrue();
        assertThat(reports(access, new Peer.Anonymous(), false)).isFalse();
        assertThat(access.mayAdminister(new Peer.Anonymous())).isFalse();
    }

    @Test
    void rulesNameUsersUnitsAndNamespaces() {
        assertThat(permitted("unit:dcgm-check.service", 65534, UNIT)).isTrue();
        assertThat(permitted("unit:dcgm-check.service", 65534, new Owner.Unit("user@7.service/dcgm-check.service")))
                .isFalse();
        assertThat(permitted("uid:65534", 65534, UNIT)).isTrue();
        assertThat(permitted("uid:65534", 65535, UNIT)).isFalse();
        assertThat(permitted("pod:monitoring", 65534, POD)).isTrue();
        assertThat(permitted("pod:monitoring", 65534, pod("batch", "monitoring")))
                .isFalse();
        assertThat(permitted("none", 0, pod("monitoring", "dcgm-abcde"))).isFalse();
        assertThat(access("none", 7, UNIT, NODE)
                        .report(new Peer.Process(7, 7, 7, 0), true)
                        .why())
                .isEqualTo(
                        "expected a reporter that --events.reporters names (none), seen unit dcgm-check.service, user 7");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "uid:-1",
                "uid:root",
                "unit:a.scope",
                "unit:*.service",
                "pod:",
                "pod:A",
                "pod:a/b",
                "*",
                "",
                "none,uid:0"
            })
    void otherFormsAreWrongUsage(String rules) {
        assertThatThrownBy(() -> ReporterRules.parse(List.of(rules.split(","))))
                .isInstanceOf(UserError.class)
                .hasMessageContaining("--events.reporters: expected uid:NUMBER");
    }

    @Test
    void theKindOfAReporterOutlivesItsProcess() {
        assertThat(kind(0, pod("monitoring", "dcgm-abcde"))).isEqualTo(kind(7, pod("monitoring", "dcgm-vwxyz")));
        assertThat(kind(0, POD)).isNotEqualTo(kind(0, pod("batch", "dcgm-abcde")));
        assertThat(kind(7, UNIT)).isEqualTo("unit dcgm-check.service");
        assertThat(kind(7, new Owner.Unit("user@7.service/dcgm-check.service"))).isEqualTo("user 7");
        assertThat(kind(7, SHELL)).isEqualTo(kind(7, GONE)).isEqualTo("user 7");
        assertThat(kind(7, new Owner.SlurmJob("7", ""))).isEqualTo(kind(7, new Owner.SlurmJob("8", "batch")));
    }

    private static String kind(int uid, Owner owner) {
        return Reporters.of(new CallingProcess(uid, owner, NODE)).kind();
    }

    private static boolean permitted(String rules, int uid, Owner owner) {
        return reports(access(rules, uid, owner, OTHER), new Peer.Process(7, uid, uid, 0), true);
    }

    private static boolean reports(AccessPolicy access, Peer peer, boolean forEvents) {
        return access.report(peer, forEvents).reporter().isPresent();
    }

    private static AccessPolicy access(String rules, int uid, Owner owner, Reading<Boolean> ofNode) {
        return new AccessPolicy(
                998,
                Set.of(1000),
                ReporterRules.parse(List.of(rules.split(","))),
                (pid, user, connected) -> new CallingProcess(uid, owner, ofNode));
    }

    static Owner pod(String namespace, String name) {
        return new Owner.Pod(
                "0a1b2c3d-0000-1111-2222-333344445555",
                Reading.of(namespace),
                Reading.of(name),
                Reading.of("main"),
                Reading.of("c".repeat(64)));
    }
}
