package dev.gpuwarden.testkit.cluster;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.platform.commons.annotation.Testable;
import org.junit.platform.commons.support.AnnotationSupport;

/** Compares a test class with {@link RightsTable}. A class of which only some tests ran, or of which one failed, is not judged. */
public final class UsedRights implements BeforeAllCallback, AfterEachCallback, AfterAllCallback {

    private final Set<String> passed = new HashSet<>();
    private boolean failed;
    private long begin;

    @Override
    public void beforeAll(ExtensionContext context) {
        begin = Binaries.ofUser().missing().isEmpty()
                ? ControlPlane.shared().audit().end()
                : 0;
    }

    @Override
    public void afterEach(ExtensionContext context) {
        failed |= context.getExecutionException().isPresent();
        passed.add(context.getRequiredTestMethod().getName());
    }

    @Override
    public void afterAll(ExtensionContext context) {
        Class<?> test = context.getRequiredTestClass();
        boolean all = Arrays.stream(test.getDeclaredMethods())
                .filter(method -> AnnotationSupport.isAnnotated(method, Testable.class))
                .allMatch(method -> passed.contains(method.getName()));
        if (all && !failed) {
            Path repository = Path.of(System.getProperty("gpuwarden.repository"));
            RightsTable.check(
                    repository, test.getSimpleName(), ControlPlane.shared().audit(), begin);
        }
    }
}
