//! The sum of refs that moves keep is the one that git's own list of refs gives.

use std::collections::BTreeMap;

use db::{
    Tx,
    checksum::refs::{self as kept, RefHolder, RefSum},
    testing::{TestDatabase, rows, start},
};
use forgeway_repo::{
    checksum::{
        of_refs,
        recount::{Recount, recount},
    },
    git::{
        Oid, RefName, Wiki,
        change::{ActionKind, FileAction},
        refs::{self, RefMove},
    },
    push::{InternalMove, Journal, move_own, recover},
    wiki::journal::WikiJournal as _,
};
use kernel::{Result, ids::ProjectId};
use proptest::{collection, prelude::*, sample};
use time::Duration;

use crate::scratch::{Scratch, ask_in};

/// Of them two exclude each other, and three do not count.
const NAMES: [&str; 9] = [
    "refs/heads/main",
    "refs/heads/a/b",
    "refs/heads/a",
    "refs/tags/v1",
    "refs/keep-around/1",
    "refs/merge-requests/1/head",
    "refs/merge-requests/1/merge",
    "refs/pipelines/1",
    "refs/environments/production/deployments/1",
];

const PROJECT: ProjectId = ProjectId(1);
const PLACE: RefHolder = RefHolder::Repository(PROJECT);

struct Stage {
    scratch: Scratch,
    test: TestDatabase,
    journal: Journal,
    ids: Vec<Oid>,
}

impl Stage {
    async fn new() -> Self {
        let (scratch, test) = (Scratch::new().await, TestDatabase::new());
        let mut ids = Vec::new();
        for content in ["a", "b", "c"] {
            let kind = if ids.is_empty() { ActionKind::Create } else { ActionKind::Update };
            ids.push(scratch.commit(vec![FileAction::new(kind, "a").content(content)]).await);
        }
        scratch.ask(&["update-ref", "-d", "refs/heads/main"]);
        let begun = |tx: &mut Tx<'_>| {
            let owner = rows::user(tx, "owner")?;
            let group = rows::group(tx, "group")?;
            let project = rows::project(tx, group, owner, "project")?;
            assert_eq!(project, PROJECT);
            kept::begin(tx, project, start())
        };
        test.db.write(begun).await.unwrap();
        Self { scratch, test, journal: Journal::default(), ids }
    }

    fn step(&self, name: &str, old: Option<usize>, new: Option<usize>) -> RefMove {
        let id = |place: usize| self.ids[place % self.ids.len()];
        let name = RefName::full(name).unwrap();
        RefMove { name, old: old.map(id).into(), new: new.map(id) }
    }

    async fn land(&self, moves: Vec<RefMove>) -> Result<InternalMove> {
        let tools = (&self.test.db, &self.scratch.storage, &self.journal);
        move_own(tools, PROJECT, moves).await
    }

    async fn kept(&self) -> RefSum {
        self.test.db.read(|tx| kept::find(tx, PLACE)).await.unwrap().unwrap().sum
    }

    async fn recount(&self) -> Recount {
        recount(&self.test.db, &self.scratch.storage, PLACE).await.unwrap()
    }

    /// What git itself lists.
    fn listed(&self) -> RefSum {
        sum_of(&self.scratch.ask(&["for-each-ref", "--format=%(objectname) %(refname)"]))
    }
}

fn sum_of(listing: &str) -> RefSum {
    let lines = listing.lines().map(|line| line.split_once(' ').unwrap());
    let refs: Vec<(RefName, Oid)> =
        lines.map(|(id, name)| (RefName::full(name).unwrap(), id.parse().unwrap())).collect();
    of_refs(refs.iter().map(|(name, id)| (name, *id)))
}

/// A few refs that move together, each to one of three commits or away.
fn moves() -> impl Strategy<Value = BTreeMap<&'static str, Option<usize>>> {
    collection::btree_map(
        sample::select(&NAMES[..]),
        proptest::option::weighted(0.7, 0..3_usize),
        1..4,
    )
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(24) })]

    #[test]
    fn after_random_moves_the_kept_sum_equals_a_count_of_what_git_lists(
        rounds in collection::vec(moves(), 1..12)
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let stage = Stage::new().await;
            let mut now: BTreeMap<&str, usize> = BTreeMap::new();
            for round in rounds {
                let steps = round.iter().map(|(name, new)| stage.step(name, now.get(name).copied(), *new));
                // A name that another one excludes is refused, and counts for nothing.
                if let Ok(InternalMove::Done) = stage.land(steps.collect()).await {
                    for (name, new) in round {
                        match new {
                            Some(new) => drop(now.insert(name, new)),
                            None => drop(now.remove(name)),
                        }
                    }
                }
                assert_eq!(stage.kept().await, stage.listed());
            }
        });
    }
}

#[tokio::test]
async fn a_move_that_git_has_yet_to_carry_out_is_counted_as_decided() {
    let stage = Stage::new().await;
    stage.land(vec![stage.step("refs/heads/main", None, Some(0))]).await.unwrap();
    let before = stage.listed();
    // As after a crash: decided, and git has not followed.
    stage.land(vec![stage.step("refs/heads/main", Some(0), Some(1))]).await.unwrap();
    let back = stage.step("refs/heads/main", Some(1), Some(0));
    refs::move_now(&stage.scratch.repo, &[back]).await.unwrap();
    assert_eq!(stage.listed(), before);

    let Recount::Sum { kept, sum } = stage.recount().await else { panic!("a count") };
    assert_eq!(kept.sum, sum);
    recover(&stage.test.db, &stage.scratch.storage, None).await.unwrap();

    assert_eq!(stage.listed(), sum);
}

#[tokio::test]
async fn a_ref_that_was_moved_behind_the_servers_back_is_told() {
    let stage = Stage::new().await;
    stage.land(vec![stage.step("refs/tags/v1", None, Some(0))]).await.unwrap();
    stage.scratch.ask(&["update-ref", "refs/keep-around/x", &stage.ids[1].to_string()]);
    // It is only asked after what is not in the journal any more.
    stage.scratch.ask(&["update-ref", "refs/pipelines/7", &stage.ids[1].to_string()]);

    let Recount::Sum { kept, sum } = stage.recount().await else { panic!("a count") };

    assert_ne!(kept.sum, sum);
    assert_eq!(sum, stage.listed());
    stage.scratch.storage.delete(PROJECT).unwrap();
    assert!(matches!(stage.recount().await, Recount::Absent(_)));
}

#[tokio::test]
async fn a_refused_move_changes_no_sum() {
    let stage = Stage::new().await;
    stage.land(vec![stage.step("refs/heads/main", None, Some(0))]).await.unwrap();
    let before = stage.kept().await;

    let stale = stage.land(vec![stage.step("refs/heads/main", Some(2), Some(1))]).await.unwrap();

    assert_eq!(stale, InternalMove::Stale(Some(stage.ids[0])));
    assert_eq!(stage.kept().await, before);
}

#[tokio::test]
async fn the_sum_of_a_wiki_is_kept_with_its_moves() {
    let stage = Stage::new().await;
    let (wiki, place) = (Wiki::Project(PROJECT), RefHolder::ProjectWiki(PROJECT));
    let main = RefName::branch("main").unwrap();
    let repository = stage.scratch.storage.create_wiki(wiki, &main).unwrap();
    let from = stage.scratch.repo.as_path().join("objects");
    std::fs::write(repository.as_path().join("objects/info/alternates"), from.to_str().unwrap())
        .unwrap();
    for (old, new) in [(None, Some(0)), (Some(0), Some(2))] {
        let step = stage.step("refs/heads/main", old, new);
        refs::move_now(&repository, std::slice::from_ref(&step)).await.unwrap();
        stage.test.db.write(move |tx| tx.save_wiki_moves(wiki, &[step])).await.unwrap();
    }

    let listed =
        sum_of(&ask_in(&repository, &["for-each-ref", "--format=%(objectname) %(refname)"]));
    let found = recount(&stage.test.db, &stage.scratch.storage, place).await.unwrap();

    let Recount::Sum { kept, sum } = found else { panic!("a count") };
    assert_eq!((kept.sum, sum), (listed, listed));
    assert!(!kept.counted, "somebody may have written to it before sums were kept");
    let next = start().plus(Duration::days(7));
    let noted = stage.test.db.write(move |tx| kept::note_sum(tx, place, kept.moves, sum, next));
    assert!(noted.await.unwrap());
}
