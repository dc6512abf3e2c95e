/// PostgreSQL's side of the schema: pinned connections, catalogs, publications and the control schema.
@NullMarked
package dev.pgapply.schema.postgres;

import org.jspecify.annotations.NullMarked;
