/// Table structures, whatever engine they live in: what there is, what differs, and how columns map.
@NullMarked
package dev.pgapply.schema;

import org.jspecify.annotations.NullMarked;
