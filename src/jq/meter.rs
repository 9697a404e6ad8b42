//! What one evaluation may use. The interpreter asks before every step, so that no expression outruns its budget.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The stack of an evaluation's thread, in bytes. Pages that are not touched cost nothing.
///
/// Steps may use [`STACK_OF_STEPS`] of it. The rest is for what recurses between two steps: dropping what was built
/// (closures and paths, of which [`CALL`] allows at most `STEPS / 9` inside each other) and walking through values
/// (at most [`DEPTH`] deep).
pub(super) const STACK: usize = 256 << 20;
const STACK_OF_STEPS: usize = 32 << 20;

/// How many steps one expression may take: terms, calls, elements, comparisons.
pub const STEPS: u64 = 2_000_000;
/// How many bytes all values that one expression makes may take, counted as they are made.
pub const BYTES: u64 = 128 << 20;
/// How deep a value may be that an expression makes.
pub(super) const DEPTH: u32 = 512;
/// How large a value may be: one for each value in it, and one for each 16 bytes of its strings.
pub(super) const SIZE: u32 = 4 << 20;
/// What a copy of the interpreter's context costs beside the step itself; each call makes two or more.
pub(super) const CALL: u64 = 4;
/// After so many steps the deadline is looked at.
const LOOK: u64 = 256;

/// Why an evaluation was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    Steps,
    Bytes,
    Stack,
    Depth,
    Size,
    Time,
}

struct Meter {
    steps: Cell<u64>,
    bytes: Cell<u64>,
    base: Cell<usize>,
    late: RefCell<Option<Arc<AtomicBool>>>,
}

thread_local! {
    static METER: Meter = const {
        Meter { steps: Cell::new(0), bytes: Cell::new(0), base: Cell::new(0), late: RefCell::new(None) }
    };
}

/// Runs `work` with a full budget, until it is done, uses it up, or `late` is set.
///
/// # Errors
/// Why it was stopped; `None`: the interpreter itself gave up.
pub(super) fn metered<T>(late: &Arc<AtomicBool>, work: impl FnOnce() -> T) -> Result<T, Option<Stop>> {
    METER.with(|meter| {
        meter.steps.set(STEPS);
        meter.bytes.set(BYTES);
        meter.base.set(address());
        *meter.late.borrow_mut() = Some(Arc::clone(late));
    });
    catch_unwind(AssertUnwindSafe(work))
        .map_err(|panic: Box<dyn Any + Send>| panic.downcast_ref::<Stop>().copied())
}

/// Ends the evaluation. It unwinds, so that no `try` of the expression can hold it.
pub(super) fn stop(why: Stop) -> ! {
    resume_unwind(Box::new(why))
}

/// One step.
pub(super) fn step() {
    spend(1, 0);
}

/// Some steps and bytes at once.
pub(super) fn spend(steps: u64, bytes: u64) {
    METER.with(|meter| {
        if meter.base.get().abs_diff(address()) > STACK_OF_STEPS {
            stop(Stop::Stack);
        }
        let before = meter.steps.get();
        let Some(left) = before.checked_sub(steps) else { stop(Stop::Steps) };
        meter.steps.set(left);
        let Some(bytes) = meter.bytes.get().checked_sub(bytes) else { stop(Stop::Bytes) };
        meter.bytes.set(bytes);
        let due = before / LOOK != left / LOOK;
        if due && meter.late.borrow().as_ref().is_some_and(|late| late.load(Ordering::Relaxed)) {
            stop(Stop::Time);
        }
    });
}

/// Where the stack stands.
#[inline(never)]
fn address() -> usize {
    let here = 0_u8;
    (&raw const here).addr()
}
