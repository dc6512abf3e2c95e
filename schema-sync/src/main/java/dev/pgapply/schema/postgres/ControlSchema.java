package dev.pgapply.schema.postgres;

/// The schema `pgapply` of a target, in which progress is kept.
public final class ControlSchema {

    public static final String NAME = "pgapply";

    private ControlSchema() {}
}
