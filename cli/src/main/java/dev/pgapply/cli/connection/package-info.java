/// From the connection strings, environment variables and files that `libpq` users know to an endpoint the
/// driver can use.
@NullMarked
package dev.pgapply.cli.connection;

import org.jspecify.annotations.NullMarked;
