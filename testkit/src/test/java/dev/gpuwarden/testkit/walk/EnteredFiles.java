package dev.gpuwarden.testkit.walk;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.StackWalker.StackFrame;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import net.bytebuddy.jar.asm.ClassReader;
import net.bytebuddy.jar.asm.ClassVisitor;
import net.bytebuddy.jar.asm.ClassWriter;
import net.bytebuddy.jar.asm.MethodVisitor;
import net.bytebuddy.jar.asm.Opcodes;

/**
 * A recorder of the source files whose methods run. {@link #run} runs a program with the classes of the product loaded once more, each
 * method with a call of {@link #enter} at its beginning. The program records from {@link #begin} to {@link #end}. One program at a time;
 * its threads may be many.
 *
 * <p>Files are those of the product: `src/main/java` of all modules but testkit and benchmarks. Generated classes have no such file.
 */
public final class EnteredFiles {

    private static final Path ROOT = Path.of(System.getProperty("gpuwarden.repository"));
    private static final List<String> MODULES =
            List.of("core", "cli", "api", "watchdog", "native", "nccl-bench", "checks", "aggregator", "daemon");

    private static final String PRODUCT = "dev.gpuwarden.";
    private static final String TESTKIT = "dev.gpuwarden.testkit.";

    /** Each entered file, and its first caller: thread, file, line and method. */
    private static final Map<String, String> CALLERS = new HashMap<>();
    /** The files that entered another one. */
    private static final Set<String> CALLING = new HashSet<>();

    private static volatile boolean recording;
    private static Set<String> background = Set.of();
    private static Thread program = Thread.currentThread();

    private EnteredFiles() {}

    /**
     * A file that was entered.
     *
     * @param isClass false for records, enums and interfaces
     * @param passesOn whether one of its methods called a method of another file of the product
     * @param caller the first caller, for messages
     */
    public record Entered(boolean isClass, boolean passesOn, String caller) {}

    /**
     * Loads the class once more, instrumented, and calls it.
     *
     * @param called public, with a constructor without parameters
     * @return the files that were recorded, by names like `daemon.store.StoreWriter`
     */
    public static synchronized Map<String, Entered> run(Class<? extends Callable<?>> called) throws Exception {
        Loader loader = new Loader();
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        thread.setContextClassLoader(loader);
        try {
            var constructor = loader.loadClass(called.getName()).getDeclaredConstructor();
            var unused = ((Callable<?>) constructor.newInstance()).call();
        } finally {
            end();
            thread.setContextClassLoader(before);
        }
        Map<String, Entered> files = new TreeMap<>();
        synchronized (CALLERS) {
            for (Map.Entry<String, String> file : CALLERS.entrySet()) {
                Class<?> type = loader.loadClass(PRODUCT + file.getKey());
                boolean isClass = !type.isRecord() && !type.isEnum() && !type.isInterface();
                files.put(file.getKey(), new Entered(isClass, CALLING.contains(file.getKey()), file.getValue()));
            }
            CALLERS.clear();
            CALLING.clear();
        }
        return files;
    }

    /**
     * Records from now on, in addition to what was recorded before. The calling thread does not count.
     *
     * @param others names of threads, and files like `aggregator.client.LeaderElector`, whose work has another cause and does not count
     */
    public static void begin(String... others) {
        synchronized (CALLERS) {
            background = Set.of(others);
            program = Thread.currentThread();
            recording = true;
        }
    }

    public static void end() {
        synchronized (CALLERS) {
            recording = false;
        }
    }

    /** Called by instrumented methods. */
    public static void enter(String file) {
        if (!recording) {
            return;
        }
        synchronized (CALLERS) {
            Thread thread = Thread.currentThread();
            if (thread == program
                    || background.contains(withoutNumber(thread.getName()))
                    || background.contains(file)) {
                return;
            }
            List<StackFrame> callers = StackWalker.getInstance()
                    .walk(frames -> frames.filter(EnteredFiles::isProduct)
                            .filter(frame -> !file.equals(file(frame)))
                            .toList());
            if (callers.stream().anyMatch(frame -> background.contains(file(frame)))) {
                return;
            }
            callers.stream().limit(1).forEach(frame -> CALLING.add(file(frame)));
            CALLERS.computeIfAbsent(
                    file,
                    first -> thread.getName()
                            + callers.stream()
                                    .limit(1)
                                    .map(frame -> " " + frame.getFileName() + ":" + frame.getLineNumber() + " "
                                            + frame.getMethodName())
                                    .findFirst()
                                    .orElse(""));
        }
    }

    /** Returns the name of a thread without the number that its pool gives it. */
    private static String withoutNumber(String name) {
        int end = name.length();
        while (end > 0 && "-0123456789".indexOf(name.charAt(end - 1)) >= 0) {
            end--;
        }
        return name.substring(0, end);
    }

    private static boolean isProduct(StackFrame frame) {
        return frame.getClassName().startsWith(PRODUCT) && !frame.getClassName().startsWith(TESTKIT);
    }

    private static String file(StackFrame frame) {
        String name = frame.getClassName().substring(PRODUCT.length());
        int nested = name.indexOf('$');
        return nested < 0 ? name : name.substring(0, nested);
    }

    /** Loads the classes of the product itself, and all others from its parent. */
    private static final class Loader extends ClassLoader {

        Loader() {
            super(EnteredFiles.class.getClassLoader());
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.startsWith(PRODUCT) || name.startsWith(TESTKIT)) {
                return super.loadClass(name, resolve);
            }
            synchronized (getClassLoadingLock(name)) {
                Class<?> loaded = findLoadedClass(name);
                return loaded == null ? define(name) : loaded;
            }
        }

        private Class<?> define(String name) throws ClassNotFoundException {
            try (InputStream in = getResourceAsStream(name.replace('.', '/') + ".class")) {
                if (in == null) {
                    throw new ClassNotFoundException(name);
                }
                ClassReader reader = new ClassReader(in);
                ClassWriter writer = new ClassWriter(reader, ClassWriter.COMPUTE_MAXS);
                String outer = name.substring(PRODUCT.length()).split("\\$", 2)[0];
                boolean counts = MODULES.stream()
                        .map(module -> module + "/src/main/java/" + (PRODUCT + outer).replace('.', '/') + ".java")
                        .anyMatch(file -> Files.exists(ROOT.resolve(file)));
                reader.accept(counts ? new Instrumentation(writer, outer) : writer, 0);
                byte[] bytes = writer.toByteArray();
                return defineClass(name, bytes, 0, bytes.length);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    private static final class Instrumentation extends ClassVisitor {

        private final String file;

        Instrumentation(ClassVisitor next, String file) {
            super(Opcodes.ASM9, next);
            this.file = file;
        }

        @Override
        public MethodVisitor visitMethod(int access, String name, String type, String sign, String[] exceptions) {
            return new MethodVisitor(Opcodes.ASM9, super.visitMethod(access, name, type, sign, exceptions)) {
                @Override
                public void visitCode() {
                    super.visitCode();
                    super.visitLdcInsn(file);
                    super.visitMethodInsn(
                            Opcodes.INVOKESTATIC,
                            EnteredFiles.class.getName().replace('.', '/'),
                            "enter",
                            "(Ljava/lang/String;)V",
                            false);
                }
            };
        }
    }
}
