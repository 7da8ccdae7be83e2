//! Configuration languages to the location graph.
