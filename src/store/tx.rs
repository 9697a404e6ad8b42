//! The open transaction of one unit of work. See the module's brief in `ARCHITECTURE.md`.
