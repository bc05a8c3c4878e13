package dev.gpuwarden.nat.lib;

import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import dev.gpuwarden.core.SuppressForbidden;
import java.util.Optional;

/**
 * A loaded shared library. It is loaded by the system's dlopen, whose error names the problem of a file. A call may hang in it, so
 * {@link #close} unloads it after the last call that was announced by {@link #enter}.
 */
public final class SharedLibrary {

    private static final Signature OPEN = Signature.of("pu");
    private static final Signature CLOSE = Signature.of("p");
    private static final Signature NOTHING = Signature.of("");
    /**
     * Attempts to read the loader's error. An error of dlopen names the file. Any other error is about a class that the
     * JVM linked in this thread between dlopen and dlerror; at the next attempt that class is linked already.
     */
    private static final int ATTEMPTS = 3;

    // dlfcn.h of glibc.
    private static final int RTLD_NOW = 2;
    private static final int RTLD_DI_LINKMAP = 2;
    /** link.h, struct link_map: l_addr, then l_name. */
    private static final int L_NAME = 8;

    private final long handle;
    private final String path;
    private final CallCount calls = new CallCount();

    private SharedLibrary(long handle, String path) {
        this.handle = handle;
        this.path = path;
    }

    /** The result of loading: a library, or the loader's error. */
    public sealed interface Loading {
        record Loaded(SharedLibrary library) implements Loading {}

        record Refused(String why) implements Loading {}
    }

    /**
     * Loads a library.
     *
     * @param name a path, or a SONAME that the loader searches
     */
    public static Loading load(String name) {
        byte[] bytes = name.getBytes(java.nio.charset.StandardCharsets.UTF_8);
        try (NativeMemory text = NativeMemory.allocate(bytes.length + 1)) {
            text.buffer().put(0, bytes);
            for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
                long handle = Invocation.once(OPEN, Loader.DLOPEN, text.address(), RTLD_NOW);
                if (handle != 0) {
                    return new Loading.Loaded(
                            new SharedLibrary(handle, pathOf(handle).orElse(name)));
                }
                String why = CText.at(Invocation.once(NOTHING, Loader.DLERROR));
                if (why.contains(name)) {
                    return new Loading.Refused(why);
                }
            }
            return new Loading.Refused(name + ": cannot be loaded, and the loader gives no reason");
        }
    }

    /** Returns the file that the loader took. */
    public String path() {
        return path;
    }

    /** Returns the function's address; 0 where the library does not export it. */
    public long symbol(String name) {
        byte[] bytes = name.getBytes(java.nio.charset.StandardCharsets.US_ASCII);
        try (NativeMemory text = NativeMemory.allocate(bytes.length + 1)) {
            text.buffer().put(0, bytes);
            return Invocation.once(Signature.of("pp"), Loader.DLSYM, handle, text.address());
        }
    }

    /** Announces a call. Returns false after {@link #close}: the library must not be called then. Calls may be nested. */
    public boolean enter() {
        return calls.enter();
    }

    /** Ends a call that {@link #enter} has announced. */
    public void leave() {
        if (calls.leave()) {
            unload();
        }
    }

    /** Ends the use of the library. The loader reads its file again only after the calls under way, which may hang, have returned. */
    public void close() {
        if (calls.end()) {
            unload();
        }
    }

    private void unload() {
        Invocation.once(CLOSE, Loader.DLCLOSE, handle);
    }

    @SuppressForbidden("follows the loader's link map")
    private static Optional<String> pathOf(long handle) {
        try (NativeMemory out = NativeMemory.allocate(8)) {
            long failed = Invocation.once(Signature.of("pup"), Loader.DLINFO, handle, RTLD_DI_LINKMAP, out.address());
            long map = out.buffer().getLong(0);
            if ((int) failed != 0 || map == 0) {
                return Optional.empty();
            }
            String path = CText.at(new Pointer(map).getLong(L_NAME));
            return path.isEmpty() ? Optional.empty() : Optional.of(path);
        }
    }

    /** The loader's functions, which every JVM has mapped. */
    @SuppressForbidden("asks JNA for the loader's own functions, the only ones that are not reached by address")
    private static final class Loader {
        private static final String JNA_FOLDERS = "jna.platform.library.path";

        static final long DLOPEN;
        static final long DLCLOSE;
        static final long DLSYM;
        static final long DLERROR;
        static final long DLINFO;

        static {
            NativeLibrary process = process();
            DLOPEN = Pointer.nativeValue(process.getFunction("dlopen"));
            DLCLOSE = Pointer.nativeValue(process.getFunction("dlclose"));
            DLSYM = Pointer.nativeValue(process.getFunction("dlsym"));
            DLERROR = Pointer.nativeValue(process.getFunction("dlerror"));
            DLINFO = Pointer.nativeValue(process.getFunction("dlinfo"));
            linkEverything();
        }

        /**
         * Returns the functions of this process. Without this property JNA would first run ldconfig for folders to
         * search, which nothing here needs.
         */
        private static NativeLibrary process() {
            boolean ours = System.getProperty(JNA_FOLDERS) == null;
            if (ours) {
                System.setProperty(JNA_FOLDERS, "");
            }
            try {
                return NativeLibrary.getProcess();
            } finally {
                if (ours) {
                    System.clearProperty(JNA_FOLDERS);
                }
            }
        }

        /**
         * Calls once each function that is used between dlopen and dlerror. The JVM links a native method at its first
         * call by dlsym in the calling thread, and that erases dlerror's text.
         */
        private static void linkEverything() {
            try (NativeMemory text = NativeMemory.allocate(8)) {
                text.buffer().putLong(0, 'x');
                CText.at(text.address());
            }
            Invocation.once(NOTHING, DLERROR);
        }
    }
}
