package dev.gpuwarden.daemon.grpc;

import dev.gpuwarden.cli.FileErrors;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.GroupPrincipal;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserPrincipalNotFoundException;
import java.util.Optional;

/**
 * The file of a Unix socket. It appears under its name only once it listens and has its mode, so that no client finds
 * it too open or too early. The same step replaces a file left over by a dead process.
 */
final class SocketFile implements AutoCloseable {

    /** sun_path of sockaddr_un holds 108 bytes with the final zero (unix(7)). */
    private static final int LONGEST = 107;

    private static final String NEW = ".new";

    private final Path path;
    private final Path unfinished;
    private final String mode;
    private final Optional<String> group;
    private Object ownInode = "";

    /**
     * Creates no file yet.
     *
     * @param mode in the form "rw-rw----"
     * @param group the owning group; empty for the daemon's
     */
    SocketFile(Path path, String mode, Optional<String> group) {
        this.path = path.toAbsolutePath();
        this.unfinished = this.path.resolveSibling(this.path.getFileName() + NEW);
        this.mode = mode;
        this.group = group;
    }

    Path path() {
        return path;
    }

    /**
     * Creates the folder and checks that the name is free. Returns the path to listen on.
     *
     * @throws IOException with the reason why the socket cannot be used
     */
    Path prepare() throws IOException {
        if (unfinished.toString().getBytes(StandardCharsets.UTF_8).length > LONGEST) {
            throw new IOException("the path of a Unix socket may have " + (LONGEST - NEW.length()) + " bytes");
        }
        Path folder = path.getParent();
        if (folder != null && !Files.isDirectory(folder)) {
            Files.createDirectories(folder);
            // Independent of the umask: the socket's own mode limits access.
            Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
        }
        if (Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
            if (!isSocket(path)) {
                throw new IOException("there is a file that is no socket");
            }
            if (answers(path)) {
                throw new IOException("another process listens there");
            }
        }
        Files.deleteIfExists(unfinished);
        return unfinished;
    }

    /** Sets the listening socket's mode and moves it to its name. */
    void publish() throws IOException {
        if (group.isPresent()) {
            setGroup(group.get());
        }
        Files.setPosixFilePermissions(unfinished, PosixFilePermissions.fromString(mode));
        ownInode = Files.getAttribute(unfinished, "unix:ino", LinkOption.NOFOLLOW_LINKS);
        Files.move(unfinished, path, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }

    private void setGroup(String name) throws IOException {
        try {
            GroupPrincipal principal =
                    unfinished.getFileSystem().getUserPrincipalLookupService().lookupPrincipalByGroupName(name);
            Files.getFileAttributeView(unfinished, PosixFileAttributeView.class, LinkOption.NOFOLLOW_LINKS)
                    .setGroup(principal);
        } catch (UserPrincipalNotFoundException e) {
            throw new IOException("this machine has no group '" + e.getName() + "'");
        } catch (IOException e) {
            // Without a cause: callers report an exception's cause if there is one.
            throw new IOException("it cannot be given to the group '" + name + "' (" + FileErrors.why(e)
                    + "); the daemon must be a member of it, as by SupplementaryGroups= of its unit");
        }
    }

    private static boolean isSocket(Path path) throws IOException {
        int type = (int) Files.getAttribute(path, "unix:mode", LinkOption.NOFOLLOW_LINKS);
        // inode(7): S_IFMT, S_IFSOCK
        return (type & 0170000) == 0140000;
    }

    static boolean answers(Path path) {
        try (SocketChannel probe = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            return probe.connect(UnixDomainSocketAddress.of(path));
        } catch (IOException e) {
            return false;
        }
    }

    /** Removes the file, unless another process has replaced it. */
    @Override
    public void close() throws IOException {
        Files.deleteIfExists(unfinished);
        if (Files.exists(path, LinkOption.NOFOLLOW_LINKS)
                && Files.getAttribute(path, "unix:ino", LinkOption.NOFOLLOW_LINKS)
                        .equals(ownInode)) {
            Files.delete(path);
        }
    }
}
