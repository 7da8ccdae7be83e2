//! `locus reach`: who can talk to whom.

mod brute;
mod command;
mod suite;
mod world;
