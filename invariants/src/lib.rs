//! The rule library and the checker that joins graph and model.
