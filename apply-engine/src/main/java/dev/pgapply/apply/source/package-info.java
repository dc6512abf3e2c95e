/// The source's side: the replication stream, its feedback, and the queue that hands changes over.
@NullMarked
package dev.pgapply.apply.source;

import org.jspecify.annotations.NullMarked;
