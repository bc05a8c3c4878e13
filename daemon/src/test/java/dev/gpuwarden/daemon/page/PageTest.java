package dev.gpuwarden.daemon.page;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.daemon.app.RunningDaemon;
import dev.gpuwarden.testkit.browser.Browser;
import dev.gpuwarden.testkit.sim.SimulatedNode;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The page of a daemon on a simulated node, in a real browser. */
@Tag("programs")
class PageTest {

    @TempDir
    static Path folder;

    private static SimulatedNode node;
    private static RunningDaemon daemon;
    private static Browser browser;

    @BeforeAll
    static void start() throws Exception {
        node = SimulatedNode.start("demo");
        // A fault ends at the next run of its check, by default after a minute.
        daemon = RunningDaemon.start(node, "--check.interval=gpu-remapped-rows=1s");
        browser = Browser.start(folder.resolve("browser"), 1200, 1600);
        browser.open(daemon.address() + "/");
    }

    @AfterAll
    static void stop() throws Exception {
        browser.close();
        daemon.stop();
        node.close();
    }

    @Test
    void showsTheNodeAndAFaultOnceItIsThereAndNoLonger() throws Exception {
        browser.until("document.querySelectorAll('#gpus tbody tr').length === 8");
        browser.until("document.querySelectorAll('#checks tbody tr').length > 10");
        browser.until("document.querySelector('#memory tbody').innerText.includes('llm-pretrain')");
        assertThat(browser.evaluate("document.querySelector('#link').innerText"))
                .isEqualTo("");

        node.set("gpu.5.remapped-rows.failure", "yes");
        browser.until("document.querySelector('#fault-list').innerText.includes('row-remap-failure')");
        browser.until("document.querySelector('#events tbody').innerText.includes('GpuRemappedRows')");
        assertThat(browser.evaluate("document.querySelector('#verdict').innerText"))
                .isEqualTo("not fit for work");
        // README shows it: PAGE_PICTURE=docs/images/page.png
        browser.screenshot(Path.of(System.getenv().getOrDefault("PAGE_PICTURE", folder + "/page.png")));

        fitsANarrowScreen();
        theKeyboardOpensWhatTheNodeSaw();

        node.set("gpu.5.remapped-rows.failure", "no");
        browser.until("document.querySelector('#fault-list').innerText.includes('No current faults')");
    }

    /** A telephone: nothing beyond its edge, no cell that is one letter wide. */
    private static void fitsANarrowScreen() throws Exception {
        browser.size(390, 844);
        browser.screenshot(folder.resolve("narrow.png"));
        assertThat(((Number) browser.evaluate("document.documentElement.scrollWidth")).intValue())
                .isLessThanOrEqualTo(390);
        assertThat(browser.evaluate("""
                [...document.querySelectorAll('tbody td, tbody th')]
                  .filter(cell => cell.innerText.length > 6 && cell.getBoundingClientRect().width < 40)
                  .map(cell => cell.innerText).join('|')""")).isEqualTo("");
        assertThat(((Number) browser.evaluate("document.documentElement.scrollHeight")).intValue())
                .isLessThan(9000);
        browser.size(1200, 1600);
    }

    private static void theKeyboardOpensWhatTheNodeSaw() throws Exception {
        browser.evaluate("document.querySelector('#fault-list button').focus()");
        browser.press("Enter");
        browser.until("document.querySelector('dialog').open");
        browser.until("document.querySelectorAll('dialog canvas').length > 3");
        assertThat((String) browser.evaluate("location.hash")).startsWith("#event=");
        assertThat(browser.evaluate("fetch(document.querySelector('dialog a[download]').href).then(a => a.status)"))
                .isEqualTo(200);
        browser.press("Escape");
        browser.until("!document.querySelector('dialog').open");
    }

    @Test
    void everythingThatCanBeReachedHasANameAndTabReachesIt() throws Exception {
        browser.open(daemon.address() + "/");
        browser.until("document.querySelectorAll('#checks tbody tr').length > 10");
        List<Map<String, Object>> unnamed = browser.accessibilityTree().stream()
                .filter(item -> List.of(
                                "button", "link", "textbox", "searchbox", "combobox", "table", "region", "image")
                        .contains(value(item, "role")))
                .filter(item -> !Boolean.TRUE.equals(item.get("ignored")))
                .filter(item ->
                        value(item, "name").isBlank() && !value(item, "role").equals("table"))
                .toList();
        assertThat(unnamed).isEmpty();
        browser.press("Tab");
        assertThat(browser.evaluate("document.activeElement.className")).isEqualTo("skip");
    }

    private static String value(Map<String, Object> item, String key) {
        return item.get(key) instanceof Map<?, ?> holder ? String.valueOf(holder.get("value")) : "";
    }

    @Test
    void darkIsDarkAndTextStandsOut() throws Exception {
        String contrast = """
                (() => {
                  const light = colour => {
                    const [r, g, b] = colour.match(/[0-9.]+/g).slice(0, 3)
                      .map(c => c / 255).map(c => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
                    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
                  };
                  const ground = light(getComputedStyle(document.body).backgroundColor);
                  const words = ['good', 'warn', 'bad', 'unknown', 'quiet'].map(name => {
                    const probe = document.body.appendChild(document.createElement('i'));
                    probe.className = name;
                    const text = light(getComputedStyle(probe).color);
                    probe.remove();
                    return (Math.max(text, ground) + 0.05) / (Math.min(text, ground) + 0.05);
                  });
                  return Math.min(...words);
                })()""";
        for (boolean dark : List.of(true, false)) {
            browser.dark(dark);
            // WCAG 2.2, 1.4.3: normal text needs a contrast of 4.5.
            assertThat(((Number) browser.evaluate(contrast)).doubleValue()).isGreaterThan(4.5);
        }
    }
}
