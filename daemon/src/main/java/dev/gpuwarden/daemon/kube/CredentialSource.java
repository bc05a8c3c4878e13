package dev.gpuwarden.daemon.kube;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * A certificate, key or token: in a file that may be renewed at any time, or given once and for all.
 *
 * @param inline of use where there is no file
 */
record CredentialSource(Optional<Path> file, byte[] inline) {

    private static final long MOST_BYTES = 1 << 20;

    static CredentialSource of(Path file) {
        return new CredentialSource(Optional.of(file), new byte[0]);
    }

    static CredentialSource of(byte[] inline) {
        return new CredentialSource(Optional.empty(), inline);
    }

    /** As it is now. Reads the file. */
    byte[] read() throws IOException {
        if (file.isEmpty()) {
            return inline;
        }
        Path path = file.get();
        if (!Files.isReadable(path) || Files.size(path) > MOST_BYTES) {
            throw new IOException(path + " cannot be read or has more than " + MOST_BYTES + " bytes");
        }
        return Files.readAllBytes(path);
    }

    /** As one word. Never in a message: it may be a token. */
    String readWord() throws IOException {
        String word = new String(read(), StandardCharsets.ISO_8859_1).trim();
        if (word.isEmpty() || word.chars().anyMatch(c -> c <= ' ' || c > '~')) {
            throw new IOException(this + " has no token: expected one word of ASCII");
        }
        return word;
    }

    /** Where it comes from, and nothing of what it is. */
    @Override
    public String toString() {
        return file.map(Path::toString).orElse("the kubeconfig");
    }
}
