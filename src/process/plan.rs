//! What the routes that match an event ask for, taken together.

use std::sync::Arc;

use super::Step;
use super::deliver::FORWARD;
use crate::handler::Handler;

/// The work of one event: each handler once and each destination once, however many routes name them.
#[derive(Default)]
pub(super) struct Plan<'a> {
    /// The handlers in route order.
    pub(super) handlers: Vec<Handling<'a>>,
    /// Where the event goes as it came.
    pub(super) forward: Vec<&'a Arc<str>>,
}

/// One handler and the destinations of what it emits.
pub(super) struct Handling<'a> {
    pub(super) name: &'a Arc<str>,
    pub(super) handler: &'a Arc<dyn Handler>,
    /// What `outbox.route` says of its messages: its name, numbered if others of that name stand before it (one SQL
    /// file may run with several sets of parameters).
    pub(super) route: String,
    emit: Vec<&'a Arc<str>>,
}

impl<'a> Plan<'a> {
    pub(super) fn new(steps: impl Iterator<Item = &'a Step>) -> Self {
        let mut plan = Self::default();
        for step in steps {
            match step {
                Step::Handle { name, handler, emit } => add_all(plan.handling(name, handler), emit),
                Step::Forward { destinations } => add_all(&mut plan.forward, destinations),
            }
        }
        plan
    }

    /// What one route of these does: a handler by its name (all of that name, or one by its number), all forwards
    /// (`forward`), or what goes to one destination as it came (`forward:crm`).
    pub(super) fn only(mut self, route: &str) -> Self {
        self.handlers.retain(|handling| handling.route == route || **handling.name == *route);
        let destination = route.strip_prefix("forward:");
        self.forward.retain(|to| route == FORWARD || destination == Some(&***to));
        self
    }

    pub(super) fn is_empty(&self) -> bool {
        self.handlers.is_empty() && self.forward.is_empty()
    }

    /// The destinations of what was emitted under this route.
    pub(super) fn emit_of(&self, route: &str) -> &[&'a Arc<str>] {
        self.handlers.iter().find(|handling| handling.route == route).map_or(&[], |handling| &handling.emit)
    }

    fn handling(&mut self, name: &'a Arc<str>, handler: &'a Arc<dyn Handler>) -> &mut Vec<&'a Arc<str>> {
        let known = self.handlers.iter().position(|known| Arc::ptr_eq(known.handler, handler));
        let at = known.unwrap_or_else(|| {
            let route = match self.handlers.iter().filter(|before| before.name == name).count() {
                0 => name.to_string(),
                before => format!("{name}#{}", before + 1),
            };
            self.handlers.push(Handling { name, handler, route, emit: Vec::new() });
            self.handlers.len() - 1
        });
        &mut self.handlers[at].emit
    }
}

fn add_all<'a>(list: &mut Vec<&'a Arc<str>>, more: impl IntoIterator<Item = &'a Arc<str>>) {
    for one in more {
        if !list.contains(&one) {
            list.push(one);
        }
    }
}
