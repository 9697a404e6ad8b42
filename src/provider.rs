//! Provider definitions.

/// A compiled provider definition.
#[derive(Debug)]
pub struct Provider {}
