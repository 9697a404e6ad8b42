//! Handlers: the registry, SQL modules, the built-in ones.

mod modules;
mod payload;
mod registry;
mod scan;
mod support;
