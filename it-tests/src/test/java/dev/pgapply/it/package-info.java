/// Scenarios against real servers: one class per family of the server's own subscriber tests and per group of
/// field cases, and the fixture they share.
package dev.pgapply.it;
