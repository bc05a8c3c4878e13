package dev.gpuwarden.nccl.run;

import dev.gpuwarden.core.port.CollectiveException;
import dev.gpuwarden.nccl.report.Verdict;

/**
 * The failure of a run.
 *
 * @param exitCode of nccl-tests
 * @param message for the user
 */
public record Failure(int exitCode, String message) {

    /** Returns the failure with the exit code of nccl-tests for its kind. */
    public static Failure of(CollectiveException failure) {
        int code = switch (failure.kind()) {
            case COMPUTE, BLIND -> Verdict.COMPUTE;
            case COLLECTIVES -> Verdict.COLLECTIVES;
            case TIMEOUT -> Verdict.TIMEOUT;
            case ABORTED -> Verdict.INTERNAL;
            case NOT_SUPPORTED -> Verdict.NOT_IMPLEMENTED;
        };
        return new Failure(code, failure.getMessage());
    }
}
