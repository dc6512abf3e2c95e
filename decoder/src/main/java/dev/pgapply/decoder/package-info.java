/// pgoutput on the wire: one payload of bytes in, one message out, nothing else known or asked.
@NullMarked
package dev.pgapply.decoder;

import org.jspecify.annotations.NullMarked;
