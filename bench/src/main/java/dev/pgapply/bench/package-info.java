/// Measures pgapply against the server's own subscription: same machine, same backlog, same run.
@NullMarked
package dev.pgapply.bench;

import org.jspecify.annotations.NullMarked;
