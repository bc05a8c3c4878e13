package dev.gpuwarden.testkit.tls;

import dev.gpuwarden.testkit.Execution;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A certificate authority and certificates that it has signed, valid for two days. */
public final class TestKeys {

    private final Path folder;

    /** The certificate of the authority, PEM. */
    public final Path ca;

    /** @param folder receives all files */
    public TestKeys(Path folder) {
        this.folder = folder;
        this.ca = folder.resolve("ca.pem");
        request("ca", "ca.pem", "-x509", "-days", "2");
    }

    /** Creates a key and a certificate for this DNS name; returns {@link #pem}. */
    public Path certificate(String name) throws IOException {
        Files.writeString(folder.resolve(name + ".ext"), "subjectAltName=DNS:" + name + "\n");
        request(name, name + ".csr");
        List<String> sign = new ArrayList<>(List.of("x509", "-req", "-in", name + ".csr", "-days", "2"));
        sign.addAll(List.of("-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial"));
        sign.addAll(List.of("-extfile", name + ".ext", "-out", name + ".pem"));
        Openssl.run(folder, sign);
        return pem(name);
    }

    private void request(String name, String file, String... more) {
        List<String> arguments = new ArrayList<>(List.of("req", "-subj", "/CN=" + name));
        arguments.addAll(List.of(more));
        arguments.addAll(Openssl.NEW_KEY);
        arguments.addAll(List.of("-keyout", name + ".key", "-out", file));
        Openssl.run(folder, arguments);
    }

    /** Returns the file of a certificate that {@link #certificate} has created. */
    public Path pem(String name) {
        return folder.resolve(name + ".pem");
    }

    /** Returns the file of the private key of such a certificate. */
    public Path key(String name) {
        return folder.resolve(name + ".key");
    }

    /** Runs the openssl program of this machine. */
    public static final class Openssl {

        /** Arguments for a new, unencrypted key on the curve P-256. */
        public static final List<String> NEW_KEY =
                List.of("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes");

        private Openssl() {}

        /**
         * Blocks until openssl ends.
         *
         * @param folder its working directory
         * @throws IllegalStateException when openssl is missing or fails, with its output; when the thread is interrupted
         */
        public static void run(Path folder, List<String> arguments) {
            List<String> command = new ArrayList<>(List.of("openssl"));
            command.addAll(arguments);
            Execution openssl;
            try {
                openssl = Execution.of(
                        new ProcessBuilder(command).directory(folder.toFile()).redirectErrorStream(true));
            } catch (UncheckedIOException e) {
                throw new IllegalStateException(
                        "openssl: expected it on the PATH (Debian: apt-get install openssl)", e);
            }
            if (openssl.code() != 0) {
                throw new IllegalStateException(String.join(" ", command)
                        + ": expected exit code 0 from openssl 3, was " + openssl.code() + ": " + openssl.output());
            }
        }
    }
}
