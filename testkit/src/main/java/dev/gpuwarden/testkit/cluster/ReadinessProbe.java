package dev.gpuwarden.testkit.cluster;

import java.io.IOException;
import java.net.Proxy;
import java.net.URI;
import java.nio.file.Path;
import javax.net.ssl.HttpsURLConnection;
import javax.net.ssl.SSLSocketFactory;

/** An anonymous HTTPS request to a component's health endpoint. The API server permits it once its own roles exist. */
final class ReadinessProbe {

    private static final int TIMEOUT_MILLIS = 5_000;

    private final URI uri;
    private final SSLSocketFactory sockets;

    ReadinessProbe(String url, String path, Path authority) {
        this.uri = URI.create(url + path);
        this.sockets = ClientTls.context(authority).getSocketFactory();
    }

    /** Returns true for status 200; blocks up to ten seconds. */
    boolean now() {
        try {
            HttpsURLConnection connection = (HttpsURLConnection) uri.toURL().openConnection(Proxy.NO_PROXY);
            connection.setSSLSocketFactory(sockets);
            connection.setConnectTimeout(TIMEOUT_MILLIS);
            connection.setReadTimeout(TIMEOUT_MILLIS);
            return connection.getResponseCode() == 200;
        } catch (IOException notYet) {
            return false;
        }
    }
}
