package dev.gpuwarden.core.kernel;

import dev.gpuwarden.core.kernel.Signal.Kind;
import java.util.Optional;

/** `pt_main_thread[2536443]: segfault at 7f797fe00000 ip … error 4 in libnccl.so.2[7f7c7ac00000+d3d3000]` */
final class SegfaultLine {

    static final String WORDS = "segfault at ";

    private SegfaultLine() {}

    static Optional<Signal> read(LinePrefix line) {
        String text = line.text();
        boolean kernels = line.tag().isEmpty() || line.tag().equals(LinePrefix.KERNEL);
        int at = text.indexOf("]: " + WORDS);
        int open = at < 0 ? -1 : text.lastIndexOf('[', at);
        // Names of processes end at 15 characters and may hold anything.
        if (!kernels || open <= 0 || open > 16 || text.indexOf(" in libnccl.so", at) < 0) {
            return Optional.empty();
        }
        Cursor pid = new Cursor(text, open + 1);
        return pid.number() < 0 || pid.at != at
                ? Optional.empty()
                : Optional.of(
                        SIGNAL.by(Optional.of(text.substring(open + 1, at)), Optional.of(text.substring(0, open))));
    }

    private static final Signal SIGNAL = Signal.of(
            Kind.MESSAGE,
            "nccl-segfault",
            Resolution.WATCH,
            "a program crashed inside NCCL; look for faults of GPUs and links at that time before blaming the program");
}
