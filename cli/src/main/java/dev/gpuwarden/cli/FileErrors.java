package dev.gpuwarden.cli;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;

/**
 * Reasons why a file could not be read or written. For the most frequent reasons the JDK's message is the file's name
 * alone.
 */
public final class FileErrors {

    private FileErrors() {}

    /** Returns the reason without the file's name. */
    public static String why(IOException e) {
        if (e instanceof NoSuchFileException) {
            return "no such file";
        } else if (e instanceof AccessDeniedException) {
            return "no permission";
        } else if (e instanceof NotDirectoryException) {
            return "not a folder";
        } else if (e instanceof DirectoryNotEmptyException) {
            return "a folder that is not empty";
        } else if (e instanceof FileSystemException named && named.getReason() != null) {
            return named.getReason();
        }
        return e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
    }
}
