package dev.pgapply.decoder.transaction;

/// What is spooled at a moment.
///
/// @param transactions open streamed transactions
/// @param memoryBytes of them in memory
/// @param diskBytes of them in files
public record SpoolUsage(int transactions, long memoryBytes, long diskBytes) {}
