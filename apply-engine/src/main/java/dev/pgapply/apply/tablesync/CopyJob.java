package dev.pgapply.apply.tablesync;

import dev.pgapply.decoder.TableName;

/// One table to copy.
///
/// @param partitioned its rows are in its partitions
/// @param copyOut the `COPY … TO STDOUT` for the source
/// @param copyIn the `COPY … FROM STDIN` for the target, same columns and format
public record CopyJob(
        TableName table, boolean partitioned, String copyOut, String copyIn, long estimatedRows, long estimatedBytes) {}
