package dev.gpuwarden.daemon.page;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.checks.NodeFixture;
import dev.gpuwarden.cli.web.ListenAddress;
import dev.gpuwarden.cli.web.WebServer;
import dev.gpuwarden.core.check.CheckInfo;
import dev.gpuwarden.core.check.CheckRegistry;
import dev.gpuwarden.core.check.CheckResult;
import dev.gpuwarden.core.check.RunListener;
import dev.gpuwarden.core.event.EventReader;
import dev.gpuwarden.core.event.StoredEvent;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.process.GpuMemoryUse;
import dev.gpuwarden.core.process.GpuProcess;
import dev.gpuwarden.core.telemetry.GpuFrame;
import dev.gpuwarden.core.telemetry.GpuMetric;
import dev.gpuwarden.core.telemetry.GpuState;
import dev.gpuwarden.daemon.store.EventStore;
import dev.gpuwarden.daemon.store.StoreSettings;
import dev.gpuwarden.daemon.vram.VramFixture;
import dev.gpuwarden.daemon.vram.VramView;
import dev.gpuwarden.daemon.vram.watch.VramStatus;
import dev.gpuwarden.testkit.browser.Browser;
import dev.gpuwarden.watchdog.decision.RecycleRules;
import dev.gpuwarden.watchdog.observation.Tenant;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Budgets on the page, in a real browser: a T4 on which a tenant leaks towards the floor. */
@Tag("programs")
class PageBudgetsTest {

    @TempDir
    Path folder;

    private final MemoryHistory history = new MemoryHistory();
    private volatile List<VramStatus> vram = List.of();
    private volatile NodeSnapshot node = card(10_000);

    private EventStore store;
    private WebServer server;
    private Browser browser;

    @BeforeEach
    void start() throws Exception {
        store = EventStore.open(StoreSettings.at(folder.resolve("events.db")), Clock.systemUTC());
        server = WebServer.start(
                new ListenAddress("127.0.0.1", 0),
                List.of(new LongPollHandler(store), new ApiHandler(new Leaking(), history), PageHandler.create()));
        browser = Browser.start(folder.resolve("browser"), 1200, 1600);
    }

    @AfterEach
    void stop() {
        browser.close();
        server.close();
        store.close();
    }

    private static NodeSnapshot card(long leakedMib) {
        GpuFrame frame = NodeFixture.frame();
        NodeFixture.put(frame, GpuMetric.MEMORY_TOTAL, 15_360L << 20);
        NodeFixture.put(frame, GpuMetric.MEMORY_RESERVED, 300L << 20);
        NodeFixture.put(frame, GpuMetric.MEMORY_USED, leakedMib + 1900 << 20);
        NodeFixture.put(frame, GpuMetric.MEMORY_FREE, 13_160 - leakedMib << 20);
        List<GpuProcess> processes =
                List.of(NodeFixture.process(1, leakedMib << 20), NodeFixture.process(2, 1900L << 20));
        return NodeFixture.node(List.of(NodeFixture.gpu(0, GpuState.ANSWERING, frame, processes)));
    }

    private static List<GpuMemoryUse> holders(NodeSnapshot node) {
        return NodeFixture.memory(node, pid -> NodeFixture.pod("media", pid == 1 ? "immich-ml" : "portal-stt", "main"));
    }

    /** The tenant immich-ml grows by 4 MiB/s for five minutes, to this many. */
    private void leak(long mib) {
        Instant now = Instant.now();
        for (int i = 10; i >= 0; i--) {
            long leaked = mib - 120L * i;
            node = card(leaked);
            Reading<List<Tenant>> tenants = Reading.of(List.of(
                    VramFixture.tenant("media/immich-ml", 3000, leaked),
                    VramFixture.tenant("media/portal-stt", 1500, 1900),
                    VramFixture.tenant("llm/llama-swap", 5000, 0)));
            vram = List.of(VramFixture.status(
                    NodeFixture.identity(0),
                    now,
                    VramFixture.memory(13_160 - leaked),
                    tenants,
                    RecycleRules.DEFAULT,
                    Map.of()));
            history.note(
                    now.minusSeconds(30L * i),
                    holders(node),
                    vram.stream().map(VramView::of).toList());
        }
    }

    private String text(String selector) throws InterruptedException {
        return (String) browser.evaluate("document.querySelector('" + selector + "').innerText");
    }

    @Test
    void tenantsAreShownAgainstBudgetFloorAndFreeWithAForecast() throws Exception {
        leak(9224);
        browser.open("http://127.0.0.1:" + server.address().getPort() + "/");
        browser.until("document.querySelectorAll('#budgets tbody tr').length === 3");
        assertThat(text("#budgets tbody")).contains("media/immich-ml", "9.0 GiB", "2.9 GiB", "6.1 GiB");
        assertThat(text("#vram-decision")).contains("3.8 GiB free, floor 1.5 GiB", "deficit grace");
        // 2400 MiB above the floor at 4 MiB/s.
        assertThat(text("#vram-forecast"))
                .isEqualTo("At the pace of the last 10 minutes the floor is reached in 10 min.");
        browser.screenshot(folder.resolve("wide.png"));
        browser.size(390, 844);
        browser.screenshot(folder.resolve("narrow.png"));
        assertThat(((Number) browser.evaluate("document.documentElement.scrollWidth")).intValue())
                .isLessThanOrEqualTo(390);
        keep("wide.png", "narrow.png");

        node = card(1000);
        vram = List.of(VramFixture.status(
                NodeFixture.identity(0),
                Instant.now(),
                VramFixture.memory(12_160),
                Reading.absent(Absence.NO_PERMISSION),
                RecycleRules.DEFAULT,
                Map.of()));
        browser.until("document.querySelector('#vram-decision').className === 'unknown'");
        assertThat(text("#vram-forecast")).isEqualTo("No forecast of the floor: the last decision had no basis.");
        vram = List.of();
        browser.until("document.querySelector('#vram').hidden");
    }

    /** For the reviewer: BUDGET_PICTURES=/tmp keeps both pictures. */
    private void keep(String... names) throws IOException {
        String target = System.getenv("BUDGET_PICTURES");
        if (target != null) {
            for (String name : names) {
                Files.copy(folder.resolve(name), Path.of(target, name), StandardCopyOption.REPLACE_EXISTING);
            }
        }
    }

    private final class Leaking implements ApiHandler.Sources {
        @Override
        public Optional<String> notStored() {
            return Optional.empty();
        }

        @Override
        public String nodeName() {
            return "gpu-node-1";
        }

        @Override
        public NodeSnapshot node() {
            return node;
        }

        @Override
        public List<GpuMemoryUse> memory(NodeSnapshot now) {
            return holders(now);
        }

        @Override
        public List<VramStatus> vram() {
            return vram;
        }

        @Override
        public CheckRegistry checks() {
            return new NoChecks();
        }

        @Override
        public EventReader events() {
            return store;
        }

        @Override
        public Optional<byte[]> recording(StoredEvent event) {
            return Optional.empty();
        }

        @Override
        public byte[] archive(StoredEvent event) {
            return new byte[0];
        }
    }

    /** A node without checks. */
    private static final class NoChecks implements CheckRegistry {

        @Override
        public List<CheckInfo> checks() {
            return List.of();
        }

        @Override
        public List<CheckResult> results() {
            return List.of();
        }

        @Override
        public List<CheckResult> run(List<String> ids, RunListener listener) {
            return List.of();
        }
    }
}
