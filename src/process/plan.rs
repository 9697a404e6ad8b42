//! What the routes that match an event ask for, taken together.

use std::sync::Arc;

use bytes::Bytes;

use super::Step;
use super::deliver::FORWARD;
use crate::handler::Handler;

/// The work of one event: each handler once, and each destination once for each form of the event, however many routes
/// name them.
#[derive(Default)]
pub(super) struct Plan<'a> {
    /// The handlers in route order.
    pub(super) handlers: Vec<Handling<'a>>,
    /// Where the event goes, and as what.
    pub(super) forward: Vec<Forward<'a>>,
}

/// The event on its way to one destination.
pub(super) struct Forward<'a> {
    pub(super) to: &'a Arc<str>,
    /// The transform and the body that it made; without one it goes as it came.
    pub(super) changed: Option<(&'a str, Bytes)>,
}

/// One route that takes the event.
pub(super) struct Taken<'a> {
    pub(super) step: &'a Step,
    /// See [`Forward::changed`].
    pub(super) changed: Option<(&'a str, Bytes)>,
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
    pub(super) fn new(routes: impl Iterator<Item = Taken<'a>>) -> Self {
        let mut plan = Self::default();
        for Taken { step, changed } in routes {
            match step {
                Step::Handle { name, handler, emit } => add_all(plan.handling(name, handler), emit),
                Step::Forward { destinations } => {
                    for to in destinations {
                        plan.forward(Forward { to, changed: changed.clone() });
                    }
                }
            }
        }
        plan
    }

    /// What one route of these does: a handler by its name (all of that name, or one by its number), all forwards
    /// (`forward`), or what goes to one destination (`forward:crm`).
    pub(super) fn only(mut self, route: &str) -> Self {
        self.handlers.retain(|handling| handling.route == route || **handling.name == *route);
        let destination = route.strip_prefix("forward:");
        self.forward.retain(|forward| route == FORWARD || destination == Some(&**forward.to));
        self
    }

    pub(super) fn is_empty(&self) -> bool {
        self.handlers.is_empty() && self.forward.is_empty()
    }

    /// The destinations of what was emitted under this route.
    pub(super) fn emit_of(&self, route: &str) -> &[&'a Arc<str>] {
        self.handlers.iter().find(|handling| handling.route == route).map_or(&[], |handling| &handling.emit)
    }

    /// A destination gets the event once as it came, and once for each transform.
    fn forward(&mut self, new: Forward<'a>) {
        let form = |it: &Forward<'a>| (it.to, it.changed.as_ref().map(|(transform, _)| *transform));
        if !self.forward.iter().any(|known| form(known) == form(&new)) {
            self.forward.push(new);
        }
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
