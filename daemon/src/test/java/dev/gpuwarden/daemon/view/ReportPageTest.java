package dev.gpuwarden.daemon.view;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.check.CheckInfo;
import dev.gpuwarden.core.check.CheckResult;
import dev.gpuwarden.core.check.MeasuredGpus;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Measurement;
import dev.gpuwarden.core.health.Outcome;
import dev.gpuwarden.core.health.Snapshots;
import dev.gpuwarden.core.health.Subject;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import dev.gpuwarden.core.telemetry.GpuState;
import java.io.StringReader;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.xml.sax.InputSource;

class ReportPageTest {

    private static final GpuSnapshot GPU = Snapshots.gpu(Snapshots.identity(0), GpuState.ANSWERING, frame -> {});

    private static Finding finding(Outcome outcome, String message, Measurement... evidence) {
        return new Finding(
                outcome,
                "code",
                Subject.of(GPU.identity()),
                message,
                "reseat <it>",
                RecommendedAction.NONE,
                List.of(evidence));
    }

    private static String page(String node, Finding... findings) {
        NodeSnapshot snapshot = Snapshots.running(1, GPU);
        CheckInfo check = CheckInfo.of("pciebw", "GPU", "Copies & links.");
        CheckResult result = CheckResult.of(check, Instant.EPOCH, Duration.ofMillis(12), List.of(findings));
        CheckSummary summary = new CheckSummary(
                List.of(result), true, false, List.of(), MeasuredGpus.of(List.of(result), Set.of("pciebw")), false);
        return new ReportPage(node, Instant.EPOCH, snapshot, summary, "td { color: red }").html();
    }

    /** The page is kept: nothing on it may call a GPU fit that was in use. */
    @Test
    void aGpuThatWasNotMeasuredIsNamedWithItsReason() {
        Finding other = Finding.pass("good", new Subject("GPU 1", List.of(Entity.gpu("GPU-1"))), "good");
        Finding held = finding(Outcome.SKIPPED, GPU.identity().label() + ": held by <job> 7");
        assertThat(page("n", held, other))
                .contains(
                        "<title>Node n: incomplete, measured 1 of 2 GPUs</title>",
                        "<p>not measured: GPU 0: held by &lt;job&gt; 7</p>",
                        "<p>None of what was measured.</p>",
                        "1 pass, 1 skipped");
        assertThat(page("n", other)).contains("<title>Node n: fit</title>", "<p>None.</p>");
    }

    @Test
    void textOfOthersIsNeverMarkup() {
        String page = page("<script>alert(1)</script>", finding(Outcome.WARN, "a \"b\" & <img src=x onerror='1'>"));
        assertThat(page)
                .doesNotContain("<script", "<img")
                .contains("&lt;script&gt;", "a &quot;b&quot; &amp; &lt;img", "reseat &lt;it&gt;");
    }

    @Test
    void measuredValueHasABarItsLimitAndTheLimitsSource() throws Exception {
        String page = page(
                "gpu-7",
                finding(
                        Outcome.WARN,
                        "slow",
                        new Measurement("to_host_gigabytes_per_second", 24.5, "at least 49 (limits.tsv:7)")));
        Document svg = DocumentBuilderFactory.newInstance()
                .newDocumentBuilder()
                .parse(new InputSource(
                        new StringReader(page.substring(page.indexOf("<svg"), page.indexOf("</svg>") + 6))));
        assertThat(attribute(svg, "rect", "width"))
                .as("half of the limit's length")
                .isEqualTo("210.0");
        assertThat(attribute(svg, "line", "x1")).isEqualTo("610.0");
        assertThat(page)
                .contains(
                        "Expected: at least 49 (limits.tsv:7)",
                        "24.50",
                        GPU.identity().label());
    }

    private static String attribute(Document svg, String element, String name) {
        return svg.getElementsByTagName(element)
                .item(0)
                .getAttributes()
                .getNamedItem(name)
                .getNodeValue();
    }

    @Test
    void medianHasItsRangeInTheSameChart() {
        String page = page(
                "n",
                finding(
                        Outcome.PASS,
                        "fine",
                        new Measurement("power_watts", 300, ""),
                        new Measurement("least_power_watts", 100, ""),
                        new Measurement("most_power_watts", 420, "")));
        assertThat(page)
                .contains("class=\"range\" x1=\"290.0\" x2=\"610.0\"", "300 (100 to 420)")
                .doesNotContain("least power watts", "most power watts");
    }

    @Test
    void valueThatIsNoNumberHasNoLength() {
        assertThat(page("n", finding(Outcome.PASS, "odd", new Measurement("rate_hertz", Double.NaN, ""))))
                .contains("width=\"0.0\"");
    }

    @Test
    void checkThatSawNothingIsNamedWithItsReason() {
        assertThat(page("n", finding(Outcome.SKIPPED, "no libcuda.so.1 here")))
                .contains("<span class=\"quiet\">SKIPPED</span>", "no libcuda.so.1 here");
    }

    @Test
    void pageLoadsNothing() {
        assertThat(page("n", finding(Outcome.PASS, "fine")))
                .doesNotContain("http:", "https:", "src=", "href=", "url(", "@import")
                .contains("default-src 'none'");
    }
}
