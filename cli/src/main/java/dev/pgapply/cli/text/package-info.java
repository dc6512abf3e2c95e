/// Text as people write and read it: sizes, durations, counts and the word somebody probably meant.
@NullMarked
package dev.pgapply.cli.text;

import org.jspecify.annotations.NullMarked;
