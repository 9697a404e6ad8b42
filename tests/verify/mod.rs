//! The verifier: providers' published vectors, every malformed shape of a signature, time both ways.

mod allocations;
mod answers;
mod chains;
mod definitions;
mod diagnose;
mod documents;
mod fetch;
mod filters;
mod headers;
mod items;
mod keys;
mod language;
mod mapping;
mod properties;
mod signing;
mod support;
mod time;
mod tokens;
mod unsigned;
mod vectors;
