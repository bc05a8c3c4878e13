package dev.gpuwarden.nat.driver;

import dev.gpuwarden.core.port.Driver;
import dev.gpuwarden.core.port.DriverOptions;
import dev.gpuwarden.core.port.DriverProvider;
import dev.gpuwarden.core.port.Opening;
import dev.gpuwarden.core.port.Opening.Opened;
import dev.gpuwarden.core.port.Opening.Reason;
import dev.gpuwarden.core.port.Opening.Unavailable;
import dev.gpuwarden.nat.lib.LibrarySearch;
import dev.gpuwarden.nat.nvml.NvmlLibrary;
import dev.gpuwarden.nat.nvml.NvmlReturn;
import dev.gpuwarden.nat.nvml.NvmlSession;
import dev.gpuwarden.nat.nvml.NvmlSymbol;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** A factory of drivers on NVIDIA's management library. */
public final class NvmlProvider implements DriverProvider {

    /** Functions without which no GPU can be read. */
    private static final List<NvmlSymbol> NEEDED = List.of(NvmlSymbol.COUNT, NvmlSymbol.HANDLE_BY_INDEX);

    private static final Path KERNEL_DRIVER = Path.of("/proc/driver/nvidia/version");
    private static final Pattern VERSION = Pattern.compile("Kernel Module.*?\\s(\\d+(?:\\.\\d+)+)\\s");
    private static final Path CONTROL_DEVICE = Path.of("/dev/nvidiactl");

    @Override
    public Opening<Driver> open(DriverOptions options) {
        return LibrarySearch.search(LibrarySearch.NVML, options.libraryPaths())
                .then(library -> start(new NvmlLibrary(library), options));
    }

    private static Opening<Driver> start(NvmlLibrary library, DriverOptions options) {
        String missing = NEEDED.stream()
                .filter(symbol -> !library.has(symbol))
                .map(NvmlSymbol::symbol)
                .collect(Collectors.joining(", "));
        if (!library.has(NvmlSymbol.INIT_WITH_FLAGS) && !library.has(NvmlSymbol.INIT_V2)) {
            missing = missing.isEmpty() ? NvmlSymbol.INIT_V2.symbol() : NvmlSymbol.INIT_V2.symbol() + ", " + missing;
        }
        if (!missing.isEmpty()) {
            library.close();
            return new Unavailable<>(
                    Reason.LIBRARY_UNUSABLE, 0, library.path() + " is no usable driver library: it lacks " + missing);
        }
        NvmlSession session = new NvmlSession(library);
        int code = session.start();
        if (code != NvmlReturn.SUCCESS) {
            String answered =
                    library.path() + " answered " + library.describe(code) + " when started" + versions(code, library);
            // Otherwise the next attempt would not see that an installer has replaced the file.
            library.close();
            return unavailable(code, answered, Files.exists(KERNEL_DRIVER), Files.isReadable(CONTROL_DEVICE));
        }
        return new Opened<>(NvmlDriver.of(session, options));
    }

    /** Returns which of the two parts is of another version, for a failure that has this cause. */
    private static String versions(int code, NvmlLibrary library) {
        if (code != NvmlReturn.LIB_RM_VERSION_MISMATCH) {
            return "";
        }
        Optional<String> own =
                library.text(NvmlSymbol.NVML_VERSION, NvmlDriver.VERSION_BYTES).asOptional();
        return own.map(version -> "; the library is of version " + version).orElse("")
                + loaded().map(version -> "; the loaded kernel driver is of version " + version)
                        .orElse("");
    }

    private static Optional<String> loaded() {
        try {
            return kernelVersion(Files.readString(KERNEL_DRIVER));
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    /** Returns the version in the text of the kernel driver's file. */
    static Optional<String> kernelVersion(String text) {
        Matcher version = VERSION.matcher(text);
        return version.find() ? Optional.of(version.group(1)) : Optional.empty();
    }

    /**
     * Returns the reason for a failed start.
     *
     * @param kernelDriver whether the kernel driver is loaded
     * @param controlDevice whether the control device exists
     */
    static Unavailable<Driver> unavailable(int code, String answered, boolean kernelDriver, boolean controlDevice) {
        if (code == NvmlReturn.DRIVER_NOT_LOADED && kernelDriver && !controlDevice) {
            return new Unavailable<>(
                    Reason.NO_PERMISSION,
                    code,
                    answered + "; the kernel driver is loaded (" + KERNEL_DRIVER + "), but this process cannot open "
                            + CONTROL_DEVICE);
        }
        Reason reason = switch (code) {
            case NvmlReturn.DRIVER_NOT_LOADED -> Reason.DRIVER_NOT_LOADED;
            case NvmlReturn.LIB_RM_VERSION_MISMATCH -> Reason.VERSION_MISMATCH;
            case NvmlReturn.NO_PERMISSION -> Reason.NO_PERMISSION;
            default -> Reason.FAILED;
        };
        return new Unavailable<>(reason, code, answered);
    }
}
