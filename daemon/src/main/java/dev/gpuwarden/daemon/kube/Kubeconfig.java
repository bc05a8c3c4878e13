package dev.gpuwarden.daemon.kube;

import static dev.gpuwarden.core.util.JsonTrees.object;
import static dev.gpuwarden.core.util.JsonTrees.text;

import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.core.util.JsonTrees;
import dev.gpuwarden.daemon.kube.KubeAccess.Identity;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;

/**
 * The current context of a kubeconfig (kubernetes.io, kubeconfig v1). Certificates, keys and tokens in files are read
 * for each use. Settings that this client does not support are errors: credential plugins, proxies, and above all
 * skipping the verification of the server's certificate.
 */
record Kubeconfig(Path file, Map<?, ?> root) {

    private static final Set<String> CLUSTER = Set.of(
            "server", "certificate-authority", "certificate-authority-data", "insecure-skip-tls-verify", "extensions");
    private static final Set<String> USER = Set.of(
            "client-certificate",
            "client-certificate-data",
            "client-key",
            "client-key-data",
            "token",
            "tokenFile",
            "extensions");
    private static final String SUPPORTED =
            "supported are client-certificate and client-key (or their -data), token and tokenFile";

    /** @throws UserError with the file, the key and the supported settings */
    static KubeAccess read(Path file) {
        try {
            Object root = new Load(
                            LoadSettings.builder().setLabel(file.toString()).build())
                    .loadFromString(Files.readString(file));
            if (root instanceof Map<?, ?> map) {
                return new Kubeconfig(file.toAbsolutePath(), texts(map)).access();
            }
            throw new UserError(file + ": expected a kubeconfig, that is, a YAML mapping");
        } catch (YamlEngineException e) {
            throw new UserError(file + ": not YAML: "
                    + String.valueOf(e.getMessage()).lines().findFirst().orElse(""));
        } catch (IOException e) {
            throw new UserError("--kubernetes.kubeconfig " + file + " cannot be read: "
                    + (Files.exists(file) ? e.getMessage() : "no such file"));
        }
    }

    /** Returns the mapping without nulls, and with the text of each scalar. */
    private static Map<String, Object> texts(Map<?, ?> yaml) {
        Map<String, Object> fields = new LinkedHashMap<>();
        yaml.forEach((key, value) -> {
            if (value != null) {
                fields.put(String.valueOf(key), plain(value));
            }
        });
        return fields;
    }

    private static Object plain(Object value) {
        if (value instanceof Map<?, ?> map) {
            return texts(map);
        }
        return value instanceof List<?> list
                ? list.stream().filter(Objects::nonNull).map(Kubeconfig::plain).toList()
                : value.toString();
    }

    private KubeAccess access() {
        String current = text(root, "current-context");
        if (current.isEmpty()) {
            throw wrong("current-context", "expected the name of a context, but it is empty");
        }
        Map<?, ?> context = object(named("contexts", current), "context");
        Map<?, ?> cluster = object(named("clusters", text(context, "cluster")), "cluster");
        Map<?, ?> user = object(named("users", text(context, "user")), "user");
        if (text(cluster, "insecure-skip-tls-verify").equals("true")) {
            throw wrong(
                    "insecure-skip-tls-verify",
                    "is refused, since any host on the network path could take the token: set certificate-authority instead");
        }
        onlyKnown(cluster, CLUSTER, "supported are server, certificate-authority and certificate-authority-data");
        onlyKnown(user, USER, SUPPORTED);
        Optional<CredentialSource> certificate = material(user, "client-certificate");
        Optional<CredentialSource> key = material(user, "client-key");
        if (certificate.isPresent() != key.isPresent()) {
            throw wrong("client-certificate", "goes together with client-key");
        }
        return new KubeAccess(
                KubeAccess.address(text(cluster, "server"), file.toString()),
                material(cluster, "certificate-authority"),
                certificate.map(chain -> new Identity(chain, key.orElseThrow())),
                token(user),
                file.toString());
    }

    private Optional<CredentialSource> token(Map<?, ?> user) {
        // Like kubectl: the file takes precedence, since it is renewed.
        if (!text(user, "tokenFile").isEmpty()) {
            return Optional.of(CredentialSource.of(path(text(user, "tokenFile"))));
        }
        String token = text(user, "token");
        return token.isEmpty()
                ? Optional.empty()
                : Optional.of(CredentialSource.of(token.getBytes(StandardCharsets.ISO_8859_1)));
    }

    /** Returns a certificate or key. Data take precedence over a file, as in kubectl. */
    private Optional<CredentialSource> material(Map<?, ?> fields, String name) {
        String data = text(fields, name + "-data");
        if (!data.isEmpty()) {
            try {
                return Optional.of(CredentialSource.of(Base64.getDecoder().decode(data.replaceAll("\\s", ""))));
            } catch (IllegalArgumentException e) {
                throw wrong(name + "-data", "is no base64");
            }
        }
        String path = text(fields, name);
        return path.isEmpty() ? Optional.empty() : Optional.of(CredentialSource.of(path(path)));
    }

    private Path path(String text) {
        return file.resolveSibling(text);
    }

    private Map<?, ?> named(String list, String name) {
        return JsonTrees.objects(root, list).stream()
                .filter(each -> text(each, "name").equals(name))
                .findFirst()
                .orElseThrow(() -> wrong(list, "expected one called '" + name + "', but there is none"));
    }

    private void onlyKnown(Map<?, ?> fields, Set<String> known, String supported) {
        Set<String> unknown = new TreeSet<>(JsonTrees.copy(fields).keySet());
        unknown.removeAll(known);
        if (!unknown.isEmpty()) {
            throw wrong(String.join(", ", unknown), "not supported: " + supported);
        }
    }

    private UserError wrong(String key, String what) {
        return new UserError(file + ": " + key + ": " + what);
    }
}
