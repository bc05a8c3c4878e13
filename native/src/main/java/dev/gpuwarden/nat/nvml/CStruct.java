package dev.gpuwarden.nat.nvml;

import java.util.List;

/**
 * A C structure as data.
 *
 * @param size sizeof, in bytes
 * @param alignment in bytes
 */
public record CStruct(String name, List<Field> fields, int size, int alignment) {

    /** One field; {@code bytes} is the size of the whole array for arrays. */
    public record Field(String name, int offset, int bytes) {}

    public Field field(String field) {
        for (Field f : fields) {
            if (f.name().equals(field)) {
                return f;
            }
        }
        throw new IllegalArgumentException(name + " has no field " + field);
    }

    public int offset(String field) {
        return field(field).offset();
    }

    /** NVML's version word: sizeof | version << 24. A plain 2 is refused by the library. */
    public int versionWord(int version) {
        return size | version << 24;
    }
}
