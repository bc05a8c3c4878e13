package dev.gpuwarden.testkit.browser;

import dev.gpuwarden.cli.Output;
import dev.gpuwarden.core.util.Threads;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;

/** A headless Chromium with one page, controlled by the DevTools protocol. */
public final class Browser implements AutoCloseable {

    private static final Pattern LISTENING = Pattern.compile("DevTools listening on (ws://[^ ]+)");

    private final Process process;
    private final WebSocket socket;
    private final BlockingQueue<String> answers = new LinkedBlockingQueue<>();
    private String session = "";
    private int calls;

    private Browser(Process process, String address) {
        this.process = process;
        this.socket = HttpClient.newHttpClient()
                .newWebSocketBuilder()
                .buildAsync(URI.create(address), new Listener())
                .join();
    }

    /** @param profile an empty folder for the browser's files */
    public static Browser start(Path profile, int width, int height) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(
                        "chromium",
                        "--headless=new",
                        "--no-sandbox",
                        "--disable-gpu",
                        "--disable-dev-shm-usage",
                        "--hide-scrollbars",
                        "--remote-debugging-port=0",
                        "--window-size=" + width + "," + height,
                        "--user-data-dir=" + profile)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        BufferedReader err =
                new BufferedReader(new InputStreamReader(process.getErrorStream(), StandardCharsets.UTF_8));
        for (String line = err.readLine(); line != null; line = err.readLine()) {
            Matcher m = LISTENING.matcher(line);
            if (m.find()) {
                drain(err);
                Browser browser = new Browser(process, m.group(1));
                browser.attach();
                return browser;
            }
        }
        throw new IOException("chromium ended before it listened");
    }

    /** Reads and drops the output: Chromium would stop at a full pipe. */
    private static void drain(BufferedReader err) {
        Threads.daemon("chromium-stderr", () -> err.lines().forEach(line -> {})).start();
    }

    private void attach() throws InterruptedException {
        Object target =
                call("Target.createTarget", Map.of("url", "about:blank")).get("targetId");
        session = String.valueOf(
                call("Target.attachToTarget", Map.of("targetId", String.valueOf(target), "flatten", true))
                        .get("sessionId"));
    }

    /** Opens an address; blocks until the page and all its resources are loaded. */
    public void open(String address) throws InterruptedException {
        open(address, address);
    }

    /** @param shown beginning of the address of the loaded page, for example without a name and a password */
    public void open(String address, String shown) throws InterruptedException {
        call("Page.navigate", Map.of("url", address));
        until("document.readyState === 'complete' && location.href.startsWith('" + shown + "')");
    }

    /** Evaluates an expression in the page; waits for a promise. */
    public Object evaluate(String expression) throws InterruptedException {
        Map<?, ?> answer =
                call("Runtime.evaluate", Map.of("expression", expression, "awaitPromise", true, "returnByValue", true));
        if (answer.containsKey("exceptionDetails")) {
            throw new AssertionError(expression + ": " + answer.get("exceptionDetails"));
        }
        Object value = map(answer.get("result")).get("value");
        return value == null ? "" : value;
    }

    /**
     * Waits until an expression is true, up to a minute, since recovery needs proof. An expression that throws is not true yet: a page
     * that is loading has no document. Fails with the text of the page.
     */
    public void until(String expression) throws InterruptedException {
        long giveUp = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        String tried = "(() => { try { return Boolean(" + expression + "); } catch { return false; } })()";
        while (!Boolean.TRUE.equals(evaluate(tried))) {
            if (System.nanoTime() > giveUp) {
                throw new AssertionError(expression + " did not come true on: " + evaluate("document.body?.innerText"));
            }
            TimeUnit.MILLISECONDS.sleep(20);
        }
    }

    public void press(String key) throws InterruptedException {
        for (String type : List.of("keyDown", "keyUp")) {
            Map<String, Object> event = new LinkedHashMap<>();
            event.put("type", type);
            event.put("key", key);
            event.put("code", key);
            event.put(
                    "windowsVirtualKeyCode",
                    switch (key) {
                        case "Tab" -> 9;
                        case "Enter" -> 13;
                        default -> 27;
                    });
            if (key.equals("Enter") && type.equals("keyDown")) {
                event.put("text", "\r");
            }
            call("Input.dispatchKeyEvent", event);
        }
    }

    /** Sets the size of the window in CSS pixels; the page stays loaded. */
    public void size(int width, int height) throws InterruptedException {
        call(
                "Emulation.setDeviceMetricsOverride",
                Map.of("width", width, "height", height, "deviceScaleFactor", 1, "mobile", false));
    }

    public void dark(boolean dark) throws InterruptedException {
        call(
                "Emulation.setEmulatedMedia",
                Map.of("features", List.of(Map.of("name", "prefers-color-scheme", "value", dark ? "dark" : "light"))));
    }

    @SuppressWarnings("unchecked")
    public List<Map<String, Object>> accessibilityTree() throws InterruptedException {
        Object nodes = call("Accessibility.getFullAXTree", Map.of()).get("nodes");
        return nodes == null ? List.of() : (List<Map<String, Object>>) nodes;
    }

    public void screenshot(Path file) throws IOException, InterruptedException {
        Object data = call("Page.captureScreenshot", Map.of("format", "png")).get("data");
        Files.write(file, Base64.getDecoder().decode((String) data));
    }

    private Map<?, ?> call(String method, Map<String, Object> parameters) throws InterruptedException {
        int id = ++calls;
        Map<String, Object> message = new LinkedHashMap<>();
        message.put("id", id);
        message.put("method", method);
        message.put("params", parameters);
        if (!session.isEmpty()) {
            message.put("sessionId", session);
        }
        socket.sendText(Output.jsonLine(message), true).join();
        while (true) {
            String text = answers.poll(30, TimeUnit.SECONDS);
            if (text == null) {
                throw new AssertionError("the browser does not answer " + method);
            }
            // JSON is YAML.
            Map<?, ?> answer = (Map<?, ?>) new Load(LoadSettings.builder()
                            .setCodePointLimit(Integer.MAX_VALUE)
                            .build())
                    .loadFromString(text);
            if (Integer.valueOf(id).equals(answer.get("id"))) {
                if (answer.containsKey("error")) {
                    throw new AssertionError(method + ": " + answer.get("error"));
                }
                return map(answer.get("result"));
            }
        }
    }

    private static Map<?, ?> map(@Nullable Object tree) {
        return tree instanceof Map<?, ?> map ? map : Map.of();
    }

    private final class Listener implements WebSocket.Listener {
        private final StringBuilder part = new StringBuilder();

        @Override
        public @Nullable CompletionStage<?> onText(WebSocket from, CharSequence data, boolean last) {
            part.append(data);
            if (last) {
                answers.add(part.toString());
                part.setLength(0);
            }
            from.request(1);
            return null;
        }
    }

    @Override
    public void close() {
        socket.abort();
        process.destroyForcibly().onExit().join();
    }
}
