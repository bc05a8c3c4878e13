package dev.gpuwarden.cli;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * The range of an option's value, with both ends, in the notation of the option: `10s`, `64MiB`, `1`. The program refuses other
 * values; help and reference show the range.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.FIELD)
public @interface Bounds {

    String from();

    /** Empty: no upper end. */
    String to() default "";
}
