//! The checker sees: a story that went well is damaged in one place after the other.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use super::{Files, Strictness, check};
use crate::end_to_end::chaos::setting::SECRETS;
use crate::end_to_end::chaos::story::Story;
use crate::support::database::{Database, Engine};
use crate::support::stripe;

/// Damages to the database, and the rule that must then be broken. `EVENT` is any event that is done.
const DATABASE: [(&str, &str); 12] = [
    ("DELETE FROM webhook_inbox WHERE event_id = EVENT", "I2 acknowledged and lost"),
    ("INSERT INTO effects SELECT * FROM effects WHERE event_id = EVENT", "I1 doubled: more than one effect"),
    ("DELETE FROM effects WHERE event_id = EVENT", "I1 done without an effect"),
    (
        "UPDATE webhook_inbox SET outcome = 'ignored' WHERE event_id = EVENT",
        "I1 an effect of work that is not done",
    ),
    (
        "INSERT INTO effects SELECT endpoint, 'evt_of_nobody', body FROM effects WHERE event_id = EVENT",
        "I3 foreign: stored, worked on or queued, but never genuinely sent",
    ),
    (
        "UPDATE webhook_inbox SET event_id = 'evt_of_nobody' WHERE event_id = EVENT",
        "I3 foreign: stored, worked on or queued, but never genuinely sent",
    ),
    ("UPDATE webhook_inbox SET body = x'7b7d' WHERE event_id = EVENT", "I8 other bytes than were sent first"),
    ("UPDATE effects SET body = x'7b7d' WHERE event_id = EVENT", "I8 other bytes than were sent first"),
    (
        "UPDATE webhook_inbox SET processed_at = NULL, outcome = NULL WHERE event_id = EVENT",
        "I7 rows without an exit",
    ),
    (
        "UPDATE webhook_inbox SET processed_at = NULL, outcome = NULL, review_at = received_at, review_reason = '-' \
         WHERE event_id = EVENT",
        "I1 an innocent event waits for a person",
    ),
    (
        "UPDATE webhook_inbox SET attempts = 6, crash_attempts = 6 WHERE event_id = EVENT",
        "more crashes than are allowed",
    ),
    ("DELETE FROM outbox WHERE event_id = EVENT", "I4 done without its message"),
];

/// Something that is done to a copy of the files.
type Damage = fn(&Scene);

/// Damages to the files.
const FILES: [(Damage, &str); 8] = [
    (|scene| scene.append("history.jsonl", &acknowledged("evt_lost", true)), "I2 acknowledged and lost"),
    (
        |scene| scene.append("history.jsonl", &acknowledged("evt_forged", false)),
        "I3 forged and answered as a success",
    ),
    (|scene| scene.each_arrival(|_| String::new()), "I4 published and never arrived"),
    (
        |scene| scene.double_arrival("\"message\":\"msg_", "\"message\":\"msg_other"),
        "I4 delivered under two ids",
    ),
    (
        |scene| scene.double_arrival("\"message\":\"msg_", "\"message\":\""),
        "I4 delivered without a message id",
    ),
    (|scene| scene.double_arrival("\"sha256\":\"", "\"sha256\":\"00"), "I8 other bytes than were sent first"),
    (
        |scene| scene.append("output/gateway-0.0.log", &format!("key={}\n", stripe::SECRET)),
        "I9 secrets in what the gateways said",
    ),
    (|scene| scene.append("output/gateway-0.0.log", UNKNOWN), "I10 an unknown commit told as a success"),
];

const UNKNOWN: &str =
    "{\"fields\":{\"message\":\"webhook.request\",\"fault\":\"store.commit_unknown\",\"status\":200}}\n";

#[tokio::test]
async fn the_checker_sees_each_damage_to_a_story_that_went_well() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let told = Story { senders: 2, ..Story::small(Engine::Sqlite, "sync") }.run(folder.path()).await;
    told.report.assert_clean();
    let done =
        told.database.pairs("SELECT event_id, '' FROM webhook_inbox WHERE outcome = 'processed'").await;
    let event = format!("'{}'", done.first().expect("an event that is done").0);

    for (damage, rule) in DATABASE {
        let damaged = told.database.copy().await;
        damaged.execute(&damage.replace("EVENT", &event)).await;
        assert_sees(folder.path(), &damaged, damage, rule).await;
    }
    for (number, (damage, rule)) in FILES.into_iter().enumerate() {
        let scene = Scene::copy(folder.path());
        damage(&scene);
        assert_sees(scene.0.path(), &told.database, &format!("damage {number} to the files"), rule).await;
    }
}

async fn assert_sees(folder: &Path, database: &Database, damage: &str, rule: &str) {
    let strictness = Strictness { crashes_may_hit_anybody: false };
    let report = check(&Files::of(folder), database, &SECRETS, strictness).await;
    assert!(report.broken().contains(&rule), "{damage}\ndoes not break `{rule}`:\n{report}");
}

/// An event of which only the history knows.
fn acknowledged(event: &str, genuine: bool) -> String {
    format!(
        "{{\"sent\":{{\"attempt\":1000000,\"at\":0,\"gateway\":0,\"endpoint\":\"billing\",\"event\":\"{event}\",\
         \"sha256\":\"\",\"genuine\":{genuine},\"due\":{{\"forwards\":[],\"hopeless\":false}}}}}}\n\
         {{\"ended\":{{\"attempt\":1000000,\"at\":0,\"status\":200,\"outcome\":\"processed\"}}}}\n"
    )
}

/// A copy of a story's files, to be damaged.
struct Scene(tempfile::TempDir);

impl Scene {
    fn copy(from: &Path) -> Self {
        let to = tempfile::tempdir().expect("a temporary folder");
        let files = Files::of(to.path());
        let output = std::fs::read_dir(Files::of(from).output()).expect("read the folder");
        let names = output.map(|file| PathBuf::from("output").join(file.expect("a file").file_name()));
        for name in names
            .chain([files.history(), files.arrivals()].map(|path| path.file_name().expect("a name").into()))
        {
            std::fs::copy(from.join(&name), to.path().join(&name)).expect("copy the file");
        }
        Self(to)
    }

    fn append(&self, file: &str, text: &str) {
        let mut options = std::fs::OpenOptions::new();
        let mut file = options.append(true).open(self.0.path().join(file)).expect("open the file");
        file.write_all(text.as_bytes()).expect("write the file");
    }

    fn each_arrival(&self, change: impl Fn(&str) -> String) {
        let path = Files::of(self.0.path()).arrivals();
        let text = std::fs::read_to_string(&path).expect("read the log");
        let changed: String = text.lines().map(change).collect();
        std::fs::write(path, changed).expect("write the log");
    }

    /// The first arrival comes again, with this change.
    fn double_arrival(&self, find: &str, replace: &str) {
        let text = std::fs::read_to_string(Files::of(self.0.path()).arrivals()).expect("read the log");
        let first = text.lines().next().expect("an arrival").replacen(find, replace, 1);
        self.append("arrivals.jsonl", &format!("{first}\n"));
    }
}
