//! What a crash in a push leaves is finished from the journal.

use std::fs;

use db::{each_backend, error, schema::ref_journal, testing::TestDatabase};
use diesel::prelude::*;
use forgeway_repo::{
    git::{
        Oid, RefName,
        change::{ActionKind, FileAction},
        refs::{self, ExpectedValue, RefMove},
    },
    push::{journal::JournalStore as _, recover, unsettled},
};
use kernel::ids::ProjectId;

use crate::scratch::Scratch;

struct Stage {
    scratch: Scratch,
    test: TestDatabase,
    id: Oid,
}

impl Stage {
    async fn new() -> Self {
        let scratch = Scratch::new().await;
        let id = scratch.commit(vec![FileAction::new(ActionKind::Create, "a").content("a")]).await;
        Self { scratch, test: TestDatabase::new(), id }
    }

    fn tags(&self, count: usize, old: ExpectedValue, new: Option<Oid>) -> Vec<RefMove> {
        let tag = |number| RefName::tag(&format!("v{number:05}")).unwrap();
        (0..count).map(|number| RefMove { name: tag(number), old, new }).collect()
    }

    /// Notes moves as decided and leaves them at that.
    async fn decide(&self, batch: &'static str, moves: &[RefMove]) {
        let sha = |id: Option<Oid>| id.map(|id| id.to_string());
        let row = |step: &RefMove| {
            (
                ref_journal::project_id.eq(ProjectId(1)),
                ref_journal::batch.eq(batch),
                ref_journal::ref_name.eq(step.name.as_bstr().to_string()),
                ref_journal::old_sha.eq(sha(step.old.oid())),
                ref_journal::new_sha.eq(sha(step.new)),
                ref_journal::created_at.eq(db::testing::start()),
            )
        };
        let rows: Vec<_> = moves.iter().map(row).collect();
        let insert = self.test.db.write(move |tx| {
            for some in rows.chunks(500) {
                each_backend!(tx, |conn| diesel::insert_into(ref_journal::table)
                    .values(some)
                    .execute(conn)
                    .map_err(error("Push")))?;
            }
            Ok(())
        });
        insert.await.unwrap();
    }

    async fn recover(&self) -> kernel::Result<usize> {
        recover(&self.test.db, &self.scratch.storage, None).await
    }

    async fn batches(&self) -> Vec<String> {
        let rows = self.test.db.read(|tx| tx.journal()).await.unwrap();
        let mut batches: Vec<String> = rows.into_iter().map(|row| row.batch).collect();
        batches.dedup();
        batches
    }
}

#[tokio::test]
async fn a_large_push_is_finished_at_once_as_it_would_have_been() {
    let stage = Stage::new().await;
    let made = stage.tags(100, ExpectedValue::Absent, Some(stage.id));
    refs::move_now(&stage.scratch.repo, &made[..1]).await.unwrap();
    stage.decide("push", &made).await;
    for step in &made[1..] {
        fs::write(refs::lock_of(&stage.scratch.repo, &step.name), "").unwrap();
    }
    assert_eq!(unsettled(&stage.test.db, &stage.scratch.storage).await.unwrap().len(), 99);

    assert_eq!(stage.recover().await.unwrap(), 99);

    assert_eq!(stage.scratch.ask(&["tag"]).lines().count(), 100);
    // Each by itself would have got a file, and a lock, a sync and a look through all of `refs/` before.
    let own = fs::read_dir(stage.scratch.repo.as_path().join("refs/tags")).unwrap().count();
    assert_eq!((own, stage.batches().await.len()), (1, 0));
    stage.decide("gone", &stage.tags(100, ExpectedValue::Exactly(stage.id), None)).await;
    assert_eq!(stage.recover().await.unwrap(), 100);
    assert_eq!(stage.scratch.ask(&["tag"]), "");
    assert_eq!(stage.recover().await.unwrap(), 0);
}

#[tokio::test]
async fn a_ref_that_cannot_be_moved_keeps_nothing_but_its_own_push_back() {
    let stage = Stage::new().await;
    let made = stage.tags(40, ExpectedValue::Absent, Some(stage.id));
    let lost = RefName::tag("lost").unwrap();
    let lost = RefMove { name: lost, old: ExpectedValue::Absent, new: Some(Oid::new([7; 20])) };
    let astray = RefName::branch("main").unwrap();
    let astray = RefMove { name: astray, old: ExpectedValue::Absent, new: Some(Oid::new([8; 20])) };
    stage.decide("good", &made).await;
    stage.decide("bad", &[lost]).await;
    stage.decide("astray", &[astray]).await;

    stage.recover().await.unwrap_err();

    assert_eq!(stage.scratch.ask(&["tag"]).lines().count(), 40);
    assert_eq!(stage.batches().await, ["bad"]);
    assert_eq!(stage.scratch.tip("main"), stage.id);
}
