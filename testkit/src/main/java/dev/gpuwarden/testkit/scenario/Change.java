package dev.gpuwarden.testkit.scenario;

import java.util.OptionalLong;

/** A change of a running node. */
public sealed interface Change {

    /** @param gpu {@link Fault#EVERY_GPU} for all */
    record SetGpu(int gpu, Setting setting) implements Change {}

    record SetNode(Setting setting) implements Change {}

    record PutFault(Fault fault) implements Change {}

    record ClearFault(String name) implements Change {}

    record Start(SimProcess process) implements Change {}

    record Stop(int pid) implements Change {}

    /** On every GPU that the process holds. */
    record SetMemory(int pid, OptionalLong bytes) implements Change {}
}
