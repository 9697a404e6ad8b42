//! The `hookgate` binary.

fn main() {}
