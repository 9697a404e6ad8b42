//! The verifier: providers' published vectors, every malformed shape of a signature, time both ways.

mod headers;
mod language;
mod mapping;
mod properties;
mod support;
mod time;
mod vectors;
