package dev.gpuwarden.daemon.kernlog;

/** Which lines of a file or pipe prove who wrote them. A file records no writer, and a logger writes what any user sends. */
enum LineTrust {
    /** None. */
    NONE,
    /** Records of the kernel's device, as long as the file has nothing else: it stands for the device. */
    RECORDS,
    /** Those, and lines with the kernel's tag: the operator vouches that no other program can write this tag. */
    KERNEL_TAG
}
