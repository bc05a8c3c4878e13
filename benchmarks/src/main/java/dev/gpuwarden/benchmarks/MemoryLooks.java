package dev.gpuwarden.benchmarks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.LongStream;

/** Repeated readings of a program's resident memory, compared with each other and with its container's limit. */
final class MemoryLooks {

    /** The first part of a run, which does not count: Java compiles and its heap grows to its final size. */
    private static final double WARMING = 0.2;

    private static final double TOLERANCE = 0.10;
    private static final Pattern LIMIT = Pattern.compile("limits: \\{memory: (\\d+)Mi}");

    private final String program;
    private final long limitMib;
    private final List<Long> mib = new ArrayList<>();

    /** @param manifest manifest of the program, which has its container's limit */
    MemoryLooks(String program, Path manifest) throws IOException {
        this.program = program;
        Matcher limit = LIMIT.matcher(Files.readString(manifest));
        if (!limit.find()) {
            throw new IOException(manifest + ": expected a limit of memory, found none");
        }
        this.limitMib = Long.parseLong(limit.group(1));
    }

    void look(long residentMib) {
        mib.add(residentMib);
    }

    boolean isBelowLimit() {
        return most() < limitMib;
    }

    boolean isLevel() {
        return third(2) <= third(0) * (1 + TOLERANCE);
    }

    private long most() {
        return mib.stream().mapToLong(Long::longValue).max().orElse(0);
    }

    /** Returns the mean of a third of the run after the warm-up, from 0. */
    private double third(int which) {
        int warm = (int) (mib.size() * WARMING);
        int size = (mib.size() - warm) / 3;
        return LongStream.range((long) warm + (long) which * size, (long) warm + (which + 1L) * size)
                .map(i -> mib.get((int) i))
                .average()
                .orElse(0);
    }

    String line() {
        int apart = Math.max(1, mib.size() / 20);
        StringBuilder some = new StringBuilder();
        for (int i = 0; i < mib.size(); i += apart) {
            some.append(' ').append(mib.get(i));
        }
        return String.format(
                Locale.ROOT,
                "%s, resident MiB: first third %.0f, last third %.0f (%+.1f %%), most %d, its container's limit %d;%s",
                program,
                third(0),
                third(2),
                100 * (third(2) / Math.max(1, third(0)) - 1),
                most(),
                limitMib,
                some);
    }
}
