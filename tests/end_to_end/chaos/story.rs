//! A story: gateways under load to which things happen, until all is over and the checker judges.

use std::collections::VecDeque;
use std::ops::Range;
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use tokio::sync::watch;

use super::checker::{self, Files, Report, Strictness};
use super::herd::{End, Lives, Order, Reins, keeper};
use super::history::History;
use super::kinds::{Kind, POISON};
use super::senders::{Endpoint, Senders};
use super::setting::{self, ASYNC, SECRETS, SYNC};
use super::targets::Targets;
use crate::support::database::{Database, Engine};
use crate::support::wait;

/// What is to happen.
pub struct Story {
    /// The database's engine.
    pub engine: Engine,
    /// How many gateways share it.
    pub gateways: usize,
    /// The endpoints that are sent to.
    pub endpoints: Vec<Endpoint>,
    /// Chooses an event's kind.
    pub kinds: fn(&mut StdRng) -> Kind,
    /// What is done to them.
    pub plot: Plot,
    /// Decides what is sent and done, and when. What happens at the same time is still up to the machine.
    pub seed: u64,
    /// Senders at work at the same time.
    pub senders: u64,
    /// Between two events of one sender, in milliseconds.
    pub pace: Range<u64>,
    /// How strict the checker is.
    pub strictness: Strictness,
}

/// What is done to the gateways.
#[derive(Clone, Debug)]
pub enum Plot {
    /// Nothing, until some events are stored.
    Calm,
    /// One poison event in the midst of the others.
    Poison,
    /// Kills only.
    Kills(Kills),
    /// Kills, poison events, a black hole; gateways are frozen, and cut off from the database.
    Everything(Kills),
}

/// Kills by SIGKILL.
#[derive(Clone, Debug)]
pub struct Kills {
    /// How many.
    pub count: u32,
    /// From a victim's start, or the kill before, to the next kill, in milliseconds.
    pub pause: Range<u64>,
}

/// What happened.
pub struct Told {
    /// The checker's word.
    pub report: Report,
    /// The gateways' lives.
    pub lives: Vec<Lives>,
    /// From the last event's acknowledgement until nothing was left to do; `None` if that did not come.
    pub settled: Option<Duration>,
    /// For further questions.
    pub database: Database,
}

/// How long what is left may take when everything is well again.
const SETTLING: Duration = Duration::from_secs(90);

/// One poison event for so many kills.
const KILLS_PER_POISON: u32 = 3;

impl Story {
    /// One gateway, plain events to one endpoint, and no fault.
    pub fn small(engine: Engine, mode: &str) -> Self {
        Self {
            engine,
            gateways: 1,
            endpoints: vec![if mode == "async" { ASYNC } else { SYNC }],
            kinds: |_| Kind::Plain,
            plot: Plot::Calm,
            seed: rand::random(),
            senders: 6,
            pace: 0..5,
            strictness: Strictness { crashes_may_hit_anybody: true },
        }
    }

    /// Lets it happen, with its files in `folder`.
    pub async fn run(&self, folder: &Path) -> Told {
        let files = Files::of(folder);
        let database = setting::database(self.engine).await;
        let targets = Targets::start().await;
        let (keepers, reins): (Vec<_>, Vec<_>) = (0..self.gateways)
            .map(|number| {
                let config = setting::config(self.engine, &database, &targets);
                keeper(config, files.output().join(format!("gateway-{number}")))
            })
            .unzip();
        let history = History::create(&files.history());
        let senders = Senders {
            history: &history,
            places: reins.iter().map(Reins::place).collect(),
            endpoints: &self.endpoints,
            kinds: self.kinds,
            orders: Mutex::new(VecDeque::new()),
            pause: self.pace.clone(),
        };
        let poison = format!("process.handlers={POISON}");
        let environment = [("HOOKGATE_CRASH_AT", poison.as_str())];
        let (stop, stopped) = watch::channel(false);
        let (lives, settled) =
            tokio::join!(join_all(keepers.into_iter().map(|keeper| keeper.run(&environment))), async {
                tokio::join!(senders.run(self.senders, self.seed, &stopped), async {
                    self.happen(&reins, &senders, &targets, &database).await;
                    stop.send_replace(true);
                });
                let settled = settle(&database).await;
                for reins in &reins {
                    reins.order(Order::Stop).await;
                }
                settled
            });
        targets.write(&files.arrivals());
        let report = checker::check(&files, &database, &SECRETS, self.strictness).await;
        Told { report, lives, settled, database }
    }

    /// All that is done to the gateways; at its end they are left in peace.
    async fn happen(&self, reins: &[Reins], senders: &Senders<'_>, targets: &Targets, database: &Database) {
        for reins in reins {
            reins.is_up().await;
        }
        match &self.plot {
            Plot::Calm => stored(database, ANY, 10).await,
            Plot::Poison => {
                stored(database, ANY, 20).await;
                senders.order(Kind::Poison);
                stored(database, &format!("event_type = '{POISON}'"), 1).await;
            }
            Plot::Kills(kills) => {
                self.kill(kills, reins, async |_: u32, _: &mut StdRng| {}, async || {}).await;
            }
            Plot::Everything(kills) => {
                let before = async |kill: u32, random: &mut StdRng| {
                    targets.darken(kill % 3 != 2);
                    if kill.is_multiple_of(KILLS_PER_POISON) && kill < kills.count * 2 / 3 {
                        senders.order(Kind::Poison);
                    }
                    if kill % 4 == 1 {
                        // Longer than a lease, sometimes.
                        let time = Duration::from_millis(random.random_range(500..4_000));
                        reins[random.random_range(0..reins.len())].order(Order::Freeze(time)).await;
                    }
                };
                self.kill(kills, reins, before, async || database.cut_a_gateway_off().await).await;
                targets.darken(false);
            }
        }
    }

    /// Kill after kill. `before` comes before the pause to each, `between` in the middle of it.
    async fn kill(
        &self,
        kills: &Kills,
        reins: &[Reins],
        before: impl AsyncFn(u32, &mut StdRng),
        between: impl AsyncFn(),
    ) {
        let mut random = StdRng::seed_from_u64(self.seed);
        for kill in 0..kills.count {
            before(kill, &mut random).await;
            let victim = &reins[random.random_range(0..reins.len())];
            victim.is_up().await;
            // Not a wait for a condition: the moment is to be any.
            let moment = Duration::from_millis(random.random_range(kills.pause.clone()));
            tokio::time::sleep(moment / 2).await;
            between().await;
            tokio::time::sleep(moment / 2).await;
            victim.order(Order::Kill).await;
        }
    }
}

const ANY: &str = "1 = 1";

/// Until so many events are stored.
async fn stored(database: &Database, which: &str, count: i64) {
    let sql = format!("SELECT count(*) FROM webhook_inbox WHERE {which}");
    let reached = async || (database.count(&sql).await >= count).then_some(());
    wait::until(&format!("{count} events"), reached).await;
}

/// Until nothing is left to do but what waits for a person.
async fn settle(database: &Database) -> Option<Duration> {
    let begun = Instant::now();
    while begun.elapsed() < SETTLING {
        let left = database.count(LEFT).await;
        if left == 0 {
            return Some(begun.elapsed());
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    None
}

const LEFT: &str = "SELECT (SELECT count(*) FROM webhook_inbox WHERE processed_at IS NULL AND review_at IS NULL) \
                         + (SELECT count(*) FROM outbox WHERE published_at IS NULL AND review_at IS NULL)";

impl Told {
    /// How many lives ended so.
    pub fn ends(&self, end: End) -> usize {
        self.lives.iter().flat_map(|lives| &lives.ends).filter(|one| **one == end).count()
    }

    /// Everything in a few lines.
    pub fn print(&self, title: &str) {
        eprintln!("{title}");
        for (what, end) in
            [("kills", End::Killed), ("poison crashes", End::Aborted), ("starts cut off", End::NotStarted)]
        {
            eprintln!("{:>8} {what}", self.ends(end));
        }
        let most = |measure: fn(&Lives) -> u64| self.lives.iter().map(measure).max().unwrap_or(0);
        eprintln!("{:>8} MiB of memory at most", most(|lives| lives.rss_kib / 1024));
        eprintln!("{:>8} files open at most", most(|lives| lives.files as u64));
        if let Some(settled) = self.settled {
            eprintln!("{:>8} ms until nothing was left to do", settled.as_millis());
        }
        eprint!("{}", self.report);
    }

    /// Fails the test if anything was not as it must be.
    pub fn assert_well(&self) {
        self.report.assert_clean();
        assert!(self.settled.is_some(), "there was still work to do {SETTLING:?} after the last fault");
        let most = |measure: fn(&Lives) -> u64| self.lives.iter().map(measure).max().unwrap_or(0);
        assert!(most(|lives| lives.rss_kib) < 512 * 1024, "I6 memory: {:?}", self.lives);
        assert!(most(|lives| lives.files as u64) < 512, "I6 open files: {:?}", self.lives);
        assert_eq!(self.ends(End::Odd), 0, "a gateway ended in a way that nobody ordered: {:?}", self.lives);
    }
}
