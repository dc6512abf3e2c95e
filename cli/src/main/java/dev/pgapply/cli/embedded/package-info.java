/// Real PostgreSQL servers for the demo, the tests and the bench, and the comparison of what two of them hold.
@NullMarked
package dev.pgapply.cli.embedded;

import org.jspecify.annotations.NullMarked;
