package dev.gpuwarden.core.port;

/** Operators of reductions (nccl.h 2.10, ncclRedOp_t): the ordinal is the library's number. */
public enum ReduceOperator {
    SUM,
    PROD,
    MAX,
    MIN,
    AVG
}
