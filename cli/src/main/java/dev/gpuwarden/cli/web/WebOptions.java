package dev.gpuwarden.cli.web;

import dev.gpuwarden.cli.Switch;
import dev.gpuwarden.cli.run.Closer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options of a program's HTTP server. */
public final class WebOptions {

    @Option(
            names = "--web.listen-address",
            defaultValue = "127.0.0.1:9402",
            paramLabel = "HOST:PORT",
            description =
                    "Address of the page, /metrics, /healthz and /readyz; ':9402' for every address of the machine"
                            + " (default: ${DEFAULT-VALUE}).")
    String listenAddress = "127.0.0.1:9402";

    @Option(
            names = "--web.probe-address",
            defaultValue = "",
            paramLabel = "HOST:PORT",
            description =
                    "Address of /healthz and /readyz alone, for the kubelet's probes: pages and scrapes cannot delay it"
                            + " (default: none).")
    String probeAddress = "";

    @Option(
            names = "--web.pages",
            defaultValue = "on",
            paramLabel = "WHETHER",
            description =
                    "Serve the page, its JSON and its archives in addition to /metrics and the probes: ${COMPLETION-CANDIDATES}"
                            + " (default: ${DEFAULT-VALUE}).")
    Switch pages = Switch.on;

    @Option(
            names = "--web.config.file",
            paramLabel = "FILE",
            description =
                    "YAML file in the form of Prometheus's exporters, for --web.listen-address: tls_server_config and"
                            + " basic_auth_users. Changes apply without a restart (default: plain HTTP).")
    @Nullable Path configFile;

    private @Nullable WebAccess access;

    /** Returns whether the page is served. */
    public boolean pages() {
        return pages.isOn();
    }

    /**
     * Checks the options.
     *
     * @throws dev.gpuwarden.cli.UserError where an address has another form, or the file cannot be used
     */
    public void validate() {
        var unused = ListenAddress.parse(listenAddress);
        if (!probeAddress.isEmpty()) {
            var unusedToo = ListenAddress.parse(probeAddress);
        }
        var unusedEither = access();
    }

    /** Returns the access rules, which are read once: a certificate costs a tenth of a second. */
    private WebAccess access() {
        if (access == null) {
            access = new WebAccess(Optional.ofNullable(configFile), System::nanoTime);
        }
        return access;
    }

    /**
     * Starts the servers: the probes on both addresses, and the handlers on the main one.
     *
     * @param closer receives the started servers
     * @param stats of both servers
     * @return the server of the handlers
     * @throws dev.gpuwarden.cli.UserError where an address cannot be bound
     */
    public WebServer start(ProbeHandler probes, List<HttpHandler> handlers, Closer closer, WebStats stats) {
        if (!probeAddress.isEmpty()) {
            closer.add(WebServer.probes(ListenAddress.parse(probeAddress), probes, stats));
        }
        List<HttpHandler> all = new ArrayList<>(List.of(probes));
        WebAccess known = access();
        BasicAuth users = new BasicAuth(known::users, System::nanoTime);
        handlers.forEach(handler -> all.add(new LoginHandler(handler, users)));
        return closer.add(WebServer.start(ListenAddress.parse(listenAddress), all, known::tls, WebLimits.PAGES, stats));
    }
}
