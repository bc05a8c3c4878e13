package dev.gpuwarden.aggregator.app;

import static dev.gpuwarden.aggregator.app.TestFleet.settings;
import static dev.gpuwarden.testkit.Await.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.controller.ActionMode;
import dev.gpuwarden.aggregator.ruleset.RuleEvaluator;
import dev.gpuwarden.aggregator.web.FleetPage;
import dev.gpuwarden.aggregator.web.FleetView;
import dev.gpuwarden.aggregator.web.FleetView.Decisions;
import dev.gpuwarden.aggregator.web.FleetView.ReplicaState;
import dev.gpuwarden.aggregator.web.PageOptions;
import dev.gpuwarden.cli.run.Closer;
import dev.gpuwarden.cli.web.ListenAddress;
import dev.gpuwarden.cli.web.WebServer;
import dev.gpuwarden.testkit.browser.Browser;
import dev.gpuwarden.testkit.cluster.HollowNodes;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** Tests of the page of an aggregator in a real cluster, with a real browser. */
@Tag("api")
class FleetPageClusterTest {

    static final String READER = """
        apiVersion: rbac.authorization.k8s.io/v1
        kind: ClusterRole
        metadata: {name: reads}
        rules: [{apiGroups: [gpuwarden.dev], resources: [nodehealths], verbs: [list]}]
        ---
        apiVersion: rbac.authorization.k8s.io/v1
        kind: ClusterRoleBinding
        metadata: {name: reads}
        roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: reads}
        subjects:
        - {kind: ServiceAccount, name: reader, namespace: default}
        - {kind: User, apiGroup: rbac.authorization.k8s.io, name: ann}
        - {kind: Group, apiGroup: rbac.authorization.k8s.io, name: operators}
        """;

    @TempDir
    Path folder;

    private final Closer parts = new Closer();
    private TestFleet fleet;
    private Controllers controllers;
    private String bad;

    @BeforeEach
    void start() {
        fleet = TestFleet.start();
        bad = fleet.named("bad");
        parts.add(fleet);
    }

    @AfterEach
    void end() {
        parts.close();
    }

    /** Returns the port. */
    private int serve(String... options) {
        PageOptions page = new PageOptions();
        CommandLine.populateCommand(page, options);
        KubeClient api = parts.add(fleet.asAggregator());
        Decisions decisions = new Decisions();
        controllers = parts.add(
                Controllers.start(api, settings("one", ActionMode.ARMED, 100), audit -> decisions.add(audit.toTree())));
        FleetView board = new FleetView(controllers.view(), api, decisions::last, Clock.systemUTC());
        return parts.add(WebServer.start(new ListenAddress("127.0.0.1", 0), FleetPage.of(board, api, page)))
                .address()
                .getPort();
    }

    private String token(String account) {
        return token(fleet, account);
    }

    static String token(TestFleet fleet, String account) {
        fleet.client.apply(
                "{apiVersion: v1, kind: ServiceAccount, metadata: {name: %s, namespace: default}}".formatted(account));
        return fleet.plane.token("default", account);
    }

    private static HttpResponse<String> get(int port, Map<String, String> headers) throws Exception {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/api/v1/fleet"));
        headers.forEach(request::header);
        return HttpClient.newHttpClient().send(request.build(), HttpResponse.BodyHandlers.ofString());
    }

    @Test
    void userWhoMayListNodeHealthsMayReadThePage() throws Exception {
        fleet.client.apply(READER);
        int port = serve(
                "--page.user-header=X-Forwarded-User",
                "--page.groups-header=X-Forwarded-Groups",
                "--page.proxy=127.0.0.1");
        assertThat(get(port, Map.of()))
                .satisfies(answer -> assertThat(answer.statusCode()).isEqualTo(401))
                .satisfies(answer -> assertThat(answer.headers().firstValue("WWW-Authenticate"))
                        .get()
                        .asString()
                        .startsWith("Basic"))
                .extracting(HttpResponse::body)
                .asString()
                .contains("kubectl create token");
        assertThat(get(port, Map.of("Authorization", "Bearer nonsense")).body()).contains("does not accept this token");
        assertThat(get(port, Map.of("Authorization", "Bearer " + token("stranger")))
                        .body())
                .contains("system:serviceaccount:default:stranger may not list");
        assertThat(get(port, Map.of("Authorization", "Bearer " + token("reader")))
                        .statusCode())
                .isEqualTo(200);
        assertThat(get(port, Map.of("X-Forwarded-User", "ann")).statusCode()).isEqualTo(200);
        assertThat(get(port, Map.of("X-Forwarded-User", "eve")).statusCode()).isEqualTo(401);
        assertThat(get(port, Map.of("X-Forwarded-User", "eve", "X-Forwarded-Groups", "others, operators"))
                        .statusCode())
                .isEqualTo(200);
    }

    @Test
    void headerIsIgnoredUnlessItsProxyIsConfigured() throws Exception {
        fleet.client.apply(READER);
        assertThat(get(serve("--page.user-header=X-User", "--page.proxy=192.0.2.7"), Map.of("X-User", "ann"))
                        .statusCode())
                .isEqualTo(401);
        assertThat(get(serve(), Map.of("X-Forwarded-User", "ann")).statusCode()).isEqualTo(401);
    }

    @Test
    void pageShowsChangesImmediately() throws Exception {
        fleet.client.apply(READER);
        List.of(bad, fleet.named("good")).forEach(fleet::node);
        int port = serve();
        until(() -> controllers.works(), "it leads");
        try (Browser browser = Browser.start(folder.resolve("browser"), 1200, 1000)) {
            open(browser, port, "");
            browser.until("document.querySelector('#summary').innerText.includes('all nodes are as they should be')");
            browser.until("document.querySelector('#nodes tbody').innerText.includes('no node fits')");
            fleet.fail(bad);
            browser.until("document.querySelector('#nodes tbody').innerText.includes('quarantined')");
            browser.until("document.querySelector('#decisions tbody').innerText.includes('syslog-fatal')");
            browser.size(390, 844);
            assertThat(((Number) browser.evaluate("document.documentElement.scrollWidth")).intValue())
                    .as("nothing is beyond the edge of a telephone")
                    .isLessThanOrEqualTo(390);
            browser.size(1200, 1000);
            assertThat(text(browser, "#nodes tbody")).contains(bad, "SysLogsXIDError 79", "returns when this is over");
            assertThat(text(browser, "#breaker tbody")).contains("all", "closed");
            assertThat(text(browser, "#summary")).contains("1 quarantined");
            browser.screenshot(Path.of(System.getenv().getOrDefault("FLEET_PICTURE", folder + "/fleet.png")));

            theKeyboardOpensANode(browser);
            filtersLiveInTheAddress(browser, port);
            everyControlHasAName(browser);

            fleet.heal(bad);
            browser.until("!document.querySelector('#nodes tbody').innerText.includes('quarantined')");
            browser.until("document.querySelector('#decisions tbody').innerText.includes('return')");
            assertThat(browser.evaluate("document.querySelector('#link').innerText"))
                    .isEqualTo("");
        }
    }

    private void open(Browser browser, int port, String hash) throws InterruptedException {
        open(browser, token(fleet, "reader"), port, hash);
    }

    static void open(Browser browser, String token, int port, String hash) throws InterruptedException {
        // The user's answer to the browser's password prompt.
        browser.open("http://me:" + token + "@127.0.0.1:" + port + "/" + hash, "http://127.0.0.1:" + port);
    }

    static String text(Browser browser, String selector) throws InterruptedException {
        return String.valueOf(browser.evaluate("document.querySelector('" + selector + "').innerText"));
    }

    private void theKeyboardOpensANode(Browser browser) throws InterruptedException {
        browser.evaluate("document.querySelector('#nodes tbody button').focus()");
        browser.press("Enter");
        browser.until("document.querySelector('#node').open");
        assertThat(text(browser, "#node-body")).contains("fallen off the bus", "taken out of service", "next:");
        browser.press("Escape");
        browser.until("!document.querySelector('#node').open");
        assertThat(browser.evaluate("document.activeElement.innerText")).isEqualTo(bad);
    }

    private void filtersLiveInTheAddress(Browser browser, int port) throws InterruptedException {
        browser.evaluate("[...document.querySelectorAll('#states button')]"
                + ".find(button => button.innerText.includes('healthy')).click()");
        browser.until("document.querySelector('#nodes tbody').innerText.includes('good')");
        String hash = String.valueOf(browser.evaluate("location.hash"));
        assertThat(hash).contains("healthy");
        browser.open("about:blank", "about:blank");
        open(browser, port, hash + "&find=goo");
        browser.until("document.querySelector('#nodes tbody').innerText.includes('good')");
        assertThat(text(browser, "#nodes tbody")).doesNotContain("bad");
        browser.evaluate("location.hash = ''");
        browser.until("document.querySelector('#nodes tbody').innerText.includes('bad')");
        browser.dark(true);
        assertThat(browser.evaluate("getComputedStyle(document.body).backgroundColor"))
                .isEqualTo("rgb(20, 23, 28)");
        browser.dark(false);
    }

    private static void everyControlHasAName(Browser browser) throws InterruptedException {
        for (Map<String, Object> node : browser.accessibilityTree()) {
            Object role = node.get("role") instanceof Map<?, ?> map ? map.get("value") : "";
            if (List.of("button", "searchbox", "combobox", "table").contains(String.valueOf(role))
                    && !Boolean.TRUE.equals(node.get("ignored"))) {
                Object name = node.get("name") instanceof Map<?, ?> map ? map.get("value") : "";
                if (!"table".equals(role)) {
                    assertThat(String.valueOf(name)).as(node.toString()).isNotBlank();
                }
            }
        }
    }

    /** A leader would change the Node too, and that change would be shown. */
    @Test
    void followerShowsChangedHealthOfUnchangedNode() throws Exception {
        fleet.client.apply("""
            apiVersion: coordination.k8s.io/v1
            kind: Lease
            metadata: {name: gpuwarden-aggregator, namespace: gpuwarden}
            spec:
              holderIdentity: another
              leaseDurationSeconds: 3600
              acquireTime: "%1$s"
              renewTime: "%1$s"
            """.formatted("2126-01-01T00:00:00.000000Z"));
        fleet.node(bad);
        KubeClient api = parts.add(fleet.asAggregator());
        controllers = parts.add(Controllers.start(api, settings("one", ActionMode.ARMED, 100), audit -> {}));
        ReplicaState view = controllers.view();
        until(
                () -> view.quarantine().rules().book() != RuleEvaluator.EMPTY,
                "the rules are loaded, after which all nodes are assessed");
        // With a fixed clock, the minute after which all nodes are assessed never ends.
        FleetView board = new FleetView(view, api, List::of, Clock.fixed(Instant.now(), ZoneOffset.UTC));
        until(() -> shown(board, 0).contains(bad), "the node is shown");
        long seen = board.since(0).revision();
        fleet.fail(bad);
        until(() -> shown(board, seen).contains("SysLogsXIDError"), "its fault is shown");
        assertThat(fleet.get(bad, ".metadata.annotations")).isEmpty();
    }

    private static String shown(FleetView board, long seen) {
        try {
            return board.since(seen).tree().map(Map::toString).orElse("");
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void fiveHundredNodes() throws Exception {
        many(500);
    }

    @Test
    @Tag("soak")
    void fiveThousandNodes() throws Exception {
        many(5000);
    }

    private void many(int count) throws Exception {
        fleet.client.apply(READER);
        try (HollowNodes many = HollowNodes.create(fleet.plane, "many", count, 0)) {
            int port = serve();
            until(() -> controllers.works(), "it leads");
            try (Browser browser = Browser.start(folder.resolve("browser"), 1200, 1000)) {
                open(browser, port, "");
                browser.until("document.querySelector('#shown').innerText.includes('" + count + " nodes')");
                assertThat(browser.evaluate("document.querySelectorAll('#nodes tbody tr').length"))
                        .isEqualTo(200);
                assertThat(text(browser, "#states")).contains(count + " silent");
                System.getLogger("page")
                        .log(
                                System.Logger.Level.INFO,
                                "first paint after "
                                        + browser.evaluate("performance.getEntriesByName("
                                                + "'first-contentful-paint')[0].startTime")
                                        + " ms");
                fleet.node("many-17");
                fleet.fail("many-17");
                browser.until("document.querySelector('#nodes tbody').innerText.includes('many-17')"
                        + " && document.querySelector('#summary').innerText.includes('1 quarantined')");
                assertThat(many.names()).hasSize(count);
            }
        }
    }
}
