package dev.gpuwarden.benchmarks;

import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.util.concurrent.atomic.AtomicLong;

/** Probes one program's probe address like a kubelet. */
final class Probing {

    private static final int PATIENCE_MILLIS = 5_000;

    private final String url;
    private final Sightings answers;
    private final AtomicLong failed = new AtomicLong();
    private long number;

    Probing(String program, int port, String path) {
        this.url = "http://127.0.0.1:" + port + path;
        this.answers = new Sightings("probe of the " + program + ", " + path);
    }

    Sightings answers() {
        return answers;
    }

    /** Returns the number of probes without an answer, or with another answer than 200. */
    long failed() {
        return failed.get();
    }

    /** Sends a probe and waits for the answer as long as a kubelet. */
    void ask() {
        answers.happened(++number);
        try {
            HttpURLConnection connection =
                    (HttpURLConnection) URI.create(url).toURL().openConnection();
            connection.setConnectTimeout(PATIENCE_MILLIS);
            connection.setReadTimeout(PATIENCE_MILLIS);
            connection.setRequestProperty("Connection", "close");
            if (connection.getResponseCode() != HttpURLConnection.HTTP_OK) {
                failed.incrementAndGet();
            }
            connection.disconnect();
        } catch (IOException e) {
            failed.incrementAndGet();
        }
        answers.seen(number);
    }
}
