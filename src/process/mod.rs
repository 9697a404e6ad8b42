//! The unit of work: one event, all its handlers, its outbox rows and the checked final update, in one transaction.

/// How one handler's run ended, for metrics and logs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandlerRun {
    /// The handler's name.
    pub handler: std::sync::Arc<str>,
    /// `processed`, `ignored`, `flagged`, `failed` or `permanent`.
    pub outcome: &'static str,
}
