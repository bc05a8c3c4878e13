package dev.gpuwarden.api;

import io.grpc.Metadata;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.regex.Pattern;

/** The files of a gRPC client. They are read for each connection: certificates and tokens are valid for hours in many clusters. */
public final class ClientFiles {

    private static final int LONGEST_TOKEN = 16 << 10;
    private static final Pattern TOKEN = Pattern.compile("[!-~]+");
    private static final Metadata.Key<String> AUTHORIZATION =
            Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);

    private ClientFiles() {}

    /** Returns the file if it is readable: Netty's own message names no file. */
    public static Path readable(Path file) throws IOException {
        if (!Files.isReadable(file)) {
            throw new IOException(file + " cannot be read");
        }
        return file;
    }

    /**
     * Returns the headers with the current token; none without a file.
     *
     * @param setting name of the setting that names the file, for messages
     */
    public static Metadata credentials(Optional<Path> file, String setting) throws IOException {
        Metadata metadata = new Metadata();
        if (file.isPresent()) {
            metadata.put(AUTHORIZATION, "Bearer " + token(file.get(), setting));
        }
        return metadata;
    }

    private static String token(Path file, String setting) throws IOException {
        if (!Files.isReadable(file) || Files.size(file) > LONGEST_TOKEN) {
            throw new IOException(
                    setting + " " + file + " cannot be read or has more than " + LONGEST_TOKEN + " bytes");
        }
        String token = Files.readString(file, StandardCharsets.ISO_8859_1).trim();
        if (!TOKEN.matcher(token).matches()) {
            // Never the text itself.
            throw new IOException(setting + " " + file + " has no token: expected one word of ASCII");
        }
        return token;
    }
}
