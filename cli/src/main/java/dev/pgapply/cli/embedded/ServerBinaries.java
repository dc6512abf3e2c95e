package dev.pgapply.cli.embedded;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Locale;
import java.util.concurrent.locks.ReentrantLock;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.tukaani.xz.XZInputStream;

/// The programs of one PostgreSQL major version, unpacked from `postgres-<major>.jar`.
///
/// All majors use the same entry name inside their jars, so the jars are plain files in a folder and never on a
/// class path. They are unpacked once per machine and user, below `java.io.tmpdir`; several processes may do so
/// at once.
///
/// @param folder holds `bin`, `lib` and `share`
record ServerBinaries(int major, Path folder) {

    private static final String ARCHIVE = "postgres-linux-x86_64.txz";
    private static final ReentrantLock UNPACKING = new ReentrantLock();

    Path program(String name) {
        return folder.resolve("bin").resolve(name);
    }

    /// The folder of the jars: system property `pgapply.servers.dir`, else `servers` beside the running jar.
    static Path jars() {
        String property = System.getProperty("pgapply.servers.dir");
        if (property != null) {
            return Path.of(property);
        }
        try {
            Path code = Path.of(ServerBinaries.class
                    .getProtectionDomain()
                    .getCodeSource()
                    .getLocation()
                    .toURI());
            // Classes in a folder of their own, as in a test of this module: the jars are where Maven puts them.
            return Files.isDirectory(code)
                    ? code.resolveSibling("pgapply").resolve("servers")
                    : code.resolveSibling("servers");
        } catch (URISyntaxException e) {
            throw new ServerException("the folder of the server binaries is unknown: set -Dpgapply.servers.dir", e);
        }
    }

    /// Unpacks the jar of a major version where that has not been done.
    static ServerBinaries of(int major, Path jars) {
        String platform = System.getProperty("os.name") + " " + System.getProperty("os.arch");
        if (!platform.equals("Linux amd64")) {
            throw new ServerException("embedded servers exist for Linux on amd64, this is " + platform);
        }
        Path jar = jars.resolve("postgres-" + major + ".jar");
        UNPACKING.lock();
        try {
            if (!Files.isRegularFile(jar)) {
                throw new ServerException("no binaries of PostgreSQL " + major + " in " + jars.toAbsolutePath()
                        + ": build with mvn package, or set -Dpgapply.servers.dir");
            }
            String version = String.format(
                    Locale.ROOT,
                    "%d-%x-%x",
                    major,
                    Files.size(jar),
                    Files.getLastModifiedTime(jar).toMillis());
            Path unpacked = cache().resolve(version);
            if (!Files.isDirectory(unpacked)) {
                unpack(jar, unpacked);
            }
            return new ServerBinaries(major, unpacked);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot unpack " + jar, e);
        } finally {
            UNPACKING.unlock();
        }
    }

    private static Path cache() throws IOException {
        Path tmp = Path.of(System.getProperty("java.io.tmpdir"));
        Path cache = tmp.resolve("pgapply-servers-" + System.getProperty("user.name"));
        Files.createDirectories(cache);
        // In a shared folder somebody else could have put programs of their own under this name.
        if (!Files.getAttribute(cache, "unix:uid", java.nio.file.LinkOption.NOFOLLOW_LINKS)
                .equals(OperatingSystem.uid())) {
            throw new ServerException(cache + " belongs to somebody else: set -Djava.io.tmpdir");
        }
        return cache;
    }

    /// Unpacks beside the goal and renames, so that nobody ever sees half of it.
    private static void unpack(Path jar, Path goal) throws IOException {
        Path partial = Files.createTempDirectory(goal.getParent(), "unpacking-");
        try (ZipFile zip = new ZipFile(jar.toFile())) {
            ZipEntry archive = zip.getEntry(ARCHIVE);
            if (archive == null) {
                throw new ServerException(jar + " has no " + ARCHIVE);
            }
            try (InputStream tar = new BufferedInputStream(new XZInputStream(zip.getInputStream(archive)), 1 << 16)) {
                TarArchive.unpack(tar, partial);
            }
            OperatingSystem.readableByAll(partial);
            Files.move(partial, goal, StandardCopyOption.ATOMIC_MOVE);
        } catch (FileSystemException e) {
            if (!Files.isDirectory(goal)) {
                throw e;
            }
            // Another process was faster: its folder has the same content.
            OperatingSystem.deleteTree(partial);
        }
    }
}
