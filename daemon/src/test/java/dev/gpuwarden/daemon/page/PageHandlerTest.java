package dev.gpuwarden.daemon.page;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.cli.web.HttpAnswer;
import dev.gpuwarden.cli.web.Request;
import dev.gpuwarden.cli.web.StaticHandler;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PageHandlerTest {

    private static final Pattern LINK = Pattern.compile("(?:href|src)=\"(page/[^\"]+)\"|from '\\./([^']+)'");

    private final StaticHandler site = PageHandler.create();

    @Test
    void everyFileThatTheFilesAskForIsServed() {
        Set<String> seen = new TreeSet<>();
        Deque<String> open = new ArrayDeque<>(Set.of("/"));
        while (!open.isEmpty()) {
            String path = open.pop();
            if (!seen.add(path)) {
                continue;
            }
            Optional<HttpAnswer> answer = get(path);
            assertThat(answer).as(path).isPresent();
            // The chart library is one file and asks for nothing.
            if (!path.endsWith("chart.js")) {
                Matcher links = LINK.matcher(text(answer.orElseThrow()));
                while (links.find()) {
                    open.push(links.group(1) != null ? "/" + links.group(1) : "/page/" + links.group(2));
                }
            }
        }
        assertThat(seen).hasSize(11);
    }

    @Test
    void nothingRunsThatIsNotInAFileOfItsOwn() {
        HttpAnswer page = get("/").orElseThrow();
        assertThat(page.headers().get("Content-Security-Policy"))
                .contains("script-src 'self'")
                .doesNotContain("unsafe");
        assertThat(text(page))
                .doesNotContain("<style")
                .doesNotContainPattern("\\son[a-z]+=")
                .doesNotContain("style=");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"/page/", "/page/../page/main.js", "/page/main.js.map", "/index.html", "/META-INF/MANIFEST.MF"})
    void nothingElseOnTheClassPathIsServed(String path) {
        assertThat(get(path)).isEmpty();
    }

    private Optional<HttpAnswer> get(String path) {
        Request request = new Request(
                "GET",
                path,
                Map.of(),
                java.net.InetAddress.getLoopbackAddress(),
                false,
                false,
                header -> "",
                new byte[0]);
        return site.has(path) ? Optional.of(site.answer(request)) : Optional.empty();
    }

    private static String text(HttpAnswer answer) {
        return new String(answer.body(), StandardCharsets.UTF_8);
    }
}
