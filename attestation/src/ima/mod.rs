//! Measurement logs of the kernel: parsing, replay, attribution, incremental reading.
