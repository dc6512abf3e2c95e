/// The PostgreSQL target: what is sent to its server, and in which form.
@NullMarked
package dev.pgapply.apply.target.postgres;

import org.jspecify.annotations.NullMarked;
