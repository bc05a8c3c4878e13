package dev.gpuwarden.daemon.kube;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * A certificate, key or token, either in a file that may be renewed at any time or inline.
 *
 * @param inline the content if there is no file
 */
record CredentialSource(Optional<Path> file, byte[] inline) {

    private static final long MOST_BYTES = 1 << 20;

    static CredentialSource of(Path file) {
        return new CredentialSource(Optional.of(file), new byte[0]);
    }

    static CredentialSource of(byte[] inline) {
        return new CredentialSource(Optional.empty(), inline);
    }

    /** Returns the current content. Reads the file. */
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

    /** Returns the content as one word. Callers must not log it, since it may be a token. */
    String readWord() throws IOException {
        String word = new String(read(), StandardCharsets.ISO_8859_1).trim();
        if (word.isEmpty() || word.chars().anyMatch(c -> c <= ' ' || c > '~')) {
            throw new IOException(this + " has no token: expected one word of ASCII");
        }
        return word;
    }

    /** Returns the origin without the content. */
    @Override
    public String toString() {
        return file.map(Path::toString).orElse("the kubeconfig");
    }
}
