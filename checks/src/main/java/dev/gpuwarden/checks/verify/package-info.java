/** The proof that a repair had an effect: parts stay faulty after a boot or a reset until their checks have passed. */
@NullMarked
package dev.gpuwarden.checks.verify;

import org.jspecify.annotations.NullMarked;
