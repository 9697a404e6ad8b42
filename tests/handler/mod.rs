//! Handlers: the registry, SQL modules, the built-in ones.

mod documents;
mod modules;
mod modules_run;
mod own;
mod payload;
mod registry;
mod scan;
mod stripe_billing;
mod stripe_checkout;
mod support;
