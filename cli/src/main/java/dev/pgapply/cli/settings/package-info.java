/// What the user can set: one table of options, from which flags, environment variables and YAML keys derive.
@NullMarked
package dev.pgapply.cli.settings;

import org.jspecify.annotations.NullMarked;
