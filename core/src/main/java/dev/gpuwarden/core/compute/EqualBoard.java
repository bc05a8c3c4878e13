package dev.gpuwarden.core.compute;

import dev.gpuwarden.core.model.Reading;

/**
 * The properties that two GPUs must have in common before their results are compared. Two absent readings are equal if cause, code and detail are.
 *
 * @param board the board's name
 * @param mig whether MIG is on
 * @param powerLimitMilliwatts the limit in force
 * @param ecc whether ECC is on
 */
public record EqualBoard(
        String board, Reading<Boolean> mig, Reading<Long> powerLimitMilliwatts, Reading<Boolean> ecc) {}
