//! The whole gateway from outside: real processes, real HTTP, real databases.

mod interop;
