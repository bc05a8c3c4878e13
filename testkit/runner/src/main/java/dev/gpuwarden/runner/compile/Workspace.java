package dev.gpuwarden.runner.compile;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The source tree: its modules, as the root pom lists them, and where tests keep what they leave. */
public final class Workspace {

    private static final Pattern MODULE = Pattern.compile("<module>([^<]+)</module>");

    private final Path root;
    private final Path tools;
    /** In build order: each module needs only modules before it. */
    private final Map<String, TestModule> modules = new LinkedHashMap<>();

    /**
     * @param root the folder of the root pom
     * @param tools what tests use besides: promtool, grpcurl and others
     */
    public Workspace(Path root, Path tools) {
        this.root = root.toAbsolutePath().normalize();
        this.tools = tools;
        try {
            Matcher module = MODULE.matcher(Files.readString(this.root.resolve("pom.xml")));
            while (module.find()) {
                Path folder = this.root.resolve(module.group(1));
                String name = String.valueOf(folder.getFileName());
                modules.put(name, new TestModule(name, folder));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public Path root() {
        return root;
    }

    /** Returns the module of that name, for example `daemon`. */
    public Optional<TestModule> module(String name) {
        return Optional.ofNullable(modules.get(name));
    }

    /** Returns the modules in build order. */
    public List<TestModule> modules() {
        return List.copyOf(modules.values());
    }

    /** Returns the folder of the tests' logs and results. */
    public Path results() {
        return root.resolve("target/tests");
    }

    /** Returns the class path of a module's tests, with folders of classes instead of the jars of other modules. */
    public List<Path> classPath(TestModule module) {
        List<Path> path = new ArrayList<>(List.of(module.testClasses(), module.classes()));
        for (Path entry : module.dependencies()) {
            path.add(folderOfClasses(entry));
        }
        return path;
    }

    private Path folderOfClasses(Path jar) {
        for (TestModule module : modules.values()) {
            if (jar.startsWith(module.target())) {
                return jar.toString().endsWith("-tests.jar") || jar.endsWith("test-classes")
                        ? module.testClasses()
                        : module.classes();
            }
        }
        return jar;
    }

    /** Returns the modules that the tests of a module need, in build order, the module itself last. */
    public List<TestModule> closure(TestModule module) {
        List<Path> path = classPath(module);
        return modules.values().stream()
                .filter(one -> one == module || path.contains(one.classes()) || path.contains(one.testClasses()))
                .toList();
    }

    /** Returns the system properties of all tests. */
    public Map<String, String> properties(TestModule module) {
        Map<String, String> properties = new LinkedHashMap<>();
        properties.put("gpuwarden.repository", root.toString());
        properties.put("gpuwarden.tools.dir", tools.toString());
        properties.put("gpuwarden.native.dir", root.resolve("native/target/c").toString());
        properties.put("gpuwarden.image", root.resolve("packaging/target/image").toString());
        properties.put(
                "gpuwarden.baseline",
                root.resolve("benchmarks/target/c/sampler_loop").toString());
        properties.put("java.awt.headless", "true");
        Path logging = module.folder().resolve("src/test/resources/logging.properties");
        if (Files.exists(logging)) {
            properties.put("java.util.logging.config.file", logging.toString());
        }
        // Many tests wait for what must come, without a limit of their own: one that waits in vain fails by name.
        properties.put("junit.jupiter.execution.timeout.default", "5 m");
        properties.put("junit.jupiter.execution.timeout.thread.mode.default", "SEPARATE_THREAD");
        return properties;
    }
}
