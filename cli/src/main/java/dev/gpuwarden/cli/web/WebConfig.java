package dev.gpuwarden.cli.web;

import dev.gpuwarden.cli.ConfigFile;
import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.cli.tls.ServerCertificate.Clients;
import dev.gpuwarden.cli.tls.ServerCertificate.PemFiles;
import io.netty.handler.ssl.ClientAuth;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * The content of `--web.config.file`, in the form of Prometheus's exporters (prometheus/exporter-toolkit,
 * docs/web-configuration.md).
 *
 * @param tls empty for plain HTTP
 * @param users bcrypt hashes of passwords by user name; empty where no login is required
 */
record WebConfig(Optional<Tls> tls, Map<String, String> users) {

    private static final String TLS = "tls_server_config.";
    private static final String USER = "basic_auth_users.";
    private static final String HTTP2 = "http_server_config.http2";
    private static final Set<String> TLS_KEYS = Set.of(
            "cert_file",
            "key_file",
            "client_auth_type",
            "client_ca_file",
            "client_allowed_sans",
            "min_version",
            "max_version",
            "cipher_suites",
            "prefer_server_cipher_suites");

    /** The supported versions, the oldest first. */
    private static final List<String> VERSIONS = List.of("TLS12", "TLS13");

    /** A bcrypt hash. Cost 14 takes more than a second of processor time for each password check. */
    private static final Pattern HASH = Pattern.compile("\\$2[aby]\\$(0[4-9]|1[0-4])\\$[./A-Za-z0-9]{53}");

    private static final int MOST_USERS = 64;

    /**
     * TLS settings.
     *
     * @param protocols by Java's names
     * @param ciphers by the names of IANA and Java; empty for Java's choice
     */
    record Tls(PemFiles files, List<String> protocols, List<String> ciphers) {}

    /**
     * Reads the file. Paths in it are relative to its folder.
     *
     * @throws UserError with all problems of the file
     */
    static WebConfig read(Path path) {
        return new Reader(path).read();
    }

    private static final class Reader {

        private final Path path;
        private final Map<String, String> texts = new LinkedHashMap<>();
        private final Map<String, List<String>> lists = new LinkedHashMap<>();
        private final Map<String, String> users = new LinkedHashMap<>();
        private final List<String> problems = new ArrayList<>();

        Reader(Path path) {
            this.path = path;
        }

        WebConfig read() {
            ConfigFile file = ConfigFile.read(path);
            problems.addAll(file.problems());
            file.entries().forEach(this::add);
            if (users.size() > MOST_USERS) {
                problems.add(path + ": basic_auth_users: at most " + MOST_USERS + ", found " + users.size());
            }
            boolean hasTls = !texts.isEmpty() || !lists.isEmpty();
            Optional<Tls> tls = hasTls && problems.isEmpty() ? Optional.of(tls()) : Optional.empty();
            if (!problems.isEmpty()) {
                throw new UserError("--web.config.file: " + String.join("\n", problems));
            }
            return new WebConfig(tls, Map.copyOf(users));
        }

        private void add(ConfigFile.Entry entry) {
            String key = entry.key();
            if (key.startsWith(USER)) {
                user(key.substring(USER.length()), entry);
            } else if (key.startsWith(TLS) && TLS_KEYS.contains(key.substring(TLS.length()))) {
                tls(key.substring(TLS.length()), entry);
            } else if (!key.equals(HTTP2) && !(entry.value() instanceof ConfigFile.Value.Nothing)) {
                // An unsupported setting could be the one that protects the page.
                problem(
                        entry,
                        key + ": not supported; known are tls_server_config with " + sorted()
                                + ", basic_auth_users, and " + HTTP2 + ", which changes nothing: HTTP/1.1 is served");
            }
        }

        private static String sorted() {
            return String.join(", ", TLS_KEYS.stream().sorted().toList());
        }

        private void user(String name, ConfigFile.Entry entry) {
            if (entry.value() instanceof ConfigFile.Value.Scalar hash
                    && HASH.matcher(hash.text()).matches()) {
                users.put(name, hash.text());
            } else {
                problem(
                        entry,
                        "basic_auth_users." + name + ": expected a bcrypt hash of cost 4 to 14, as `htpasswd -nBC 10`"
                                + " prints; the value is not shown");
            }
        }

        private void tls(String key, ConfigFile.Entry entry) {
            if (entry.value() instanceof ConfigFile.Value.Scalar one) {
                texts.put(key, one.text());
            } else if (entry.value() instanceof ConfigFile.Value.Many many) {
                lists.put(key, many.texts());
            } else {
                problem(entry, entry.key() + ": expected a value");
            }
        }

        private Tls tls() {
            Optional<Path> clientCa = file("client_ca_file");
            ClientAuth auth = clientAuth(text("client_auth_type", clientCa.isPresent() ? "" : "NoClientCert"));
            if (clientCa.isPresent() != (auth != ClientAuth.NONE)) {
                problem("client_auth_type " + texts.get("client_auth_type")
                        + (clientCa.isPresent() ? " with" : " without") + " client_ca_file: they go together");
            }
            List<String> sans = lists.getOrDefault("client_allowed_sans", List.of());
            if (!sans.isEmpty() && clientCa.isEmpty()) {
                problem("client_allowed_sans without client_ca_file: they go together");
            }
            Optional<Path> certificate = file("cert_file");
            Optional<Path> key = file("key_file");
            if (certificate.isEmpty() || key.isEmpty()) {
                problem("expected cert_file and key_file");
            }
            return new Tls(
                    new PemFiles(
                            certificate.orElse(path),
                            key.orElse(path),
                            clientCa.map(ca -> new Clients(ca, auth, Set.copyOf(sans)))),
                    protocols(text("min_version", "TLS12"), text("max_version", "TLS13")),
                    lists.getOrDefault("cipher_suites", List.of()));
        }

        private String text(String key, String otherwise) {
            return texts.getOrDefault(key, otherwise);
        }

        private Optional<Path> file(String key) {
            return Optional.ofNullable(texts.get(key)).map(name -> path.resolveSibling(name));
        }

        private ClientAuth clientAuth(String type) {
            return switch (type) {
                case "NoClientCert" -> ClientAuth.NONE;
                case "VerifyClientCertIfGiven" -> ClientAuth.OPTIONAL;
                case "RequireAndVerifyClientCert" -> ClientAuth.REQUIRE;
                default -> {
                    problem("client_auth_type: expected NoClientCert, VerifyClientCertIfGiven or"
                            + " RequireAndVerifyClientCert (the others verify nothing), found \"" + type + "\"");
                    yield ClientAuth.REQUIRE;
                }
            };
        }

        private List<String> protocols(String least, String most) {
            int from = VERSIONS.indexOf(least);
            int to = VERSIONS.indexOf(most);
            if (from < 0 || to < from) {
                problem("min_version " + least + ", max_version " + most
                        + ": expected TLS12 or TLS13, the lesser first");
                return List.of();
            }
            return VERSIONS.subList(from, to + 1).stream()
                    .map(version -> version.replace("TLS1", "TLSv1."))
                    .toList();
        }

        private void problem(ConfigFile.Entry entry, String problem) {
            problems.add(path + ":" + entry.line() + ": " + problem);
        }

        private void problem(String problem) {
            problems.add(path + ": tls_server_config: " + problem);
        }
    }
}
