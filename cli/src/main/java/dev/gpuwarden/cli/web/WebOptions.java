package dev.gpuwarden.cli.web;

import picocli.CommandLine.Option;

/** Where the metrics are served. */
public final class WebOptions {

    @Option(
            names = "--web.listen-address",
            defaultValue = "127.0.0.1:9402",
            paramLabel = "HOST:PORT",
            description = "Address of /metrics, /healthz and /readyz; ':9402' for every address of the machine"
                    + " (default: ${DEFAULT-VALUE}).")
    String listenAddress = "127.0.0.1:9402";

    public ListenAddress listenAddress() {
        return ListenAddress.parse(listenAddress);
    }
}
