//! Checksums of repositories and files, and the check that holds them against what lies there.

use std::path::Path;

use db::checksum::{
    ChecksumCount, failures, files,
    refs::{self, RefHolder},
};
use repo::git::{Wiki, refs::RefMove};
use time::Duration;

use crate::scratch::Scratch;

impl Scratch {
    /// Does what is due after so much time.
    async fn check_after(&self, span: Duration) {
        self.db().clock().advance(span);
        let worker = self.forge.worker();
        worker.ask_due().await.unwrap();
        worker.run_due().await.unwrap();
    }

    async fn reasons(&self) -> Vec<String> {
        let found = self.db().read(|tx| failures(tx, 100)).await.unwrap();
        found.into_iter().map(|one| format!("{} {}: {}", one.kind, one.name, one.reason)).collect()
    }

    async fn count_of(&self, kind: &str) -> ChecksumCount {
        let found = self.db().read(|tx| Ok([refs::counts(tx)?, files::counts(tx)?].concat()));
        let mut found = found.await.unwrap().into_iter();
        found.find(|count| count.kind == kind).unwrap_or_default()
    }

    fn file(&self, path: &str) -> std::path::PathBuf {
        self.forge.data().join(path)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_written_to_a_project_leaves_a_sum_that_a_check_confirms() {
    let scratch = Scratch::new().await;
    let ada = scratch.person("ada").await;
    let project = scratch.project(&ada, "tea").await;
    scratch.write(&ada, &project, "green", ("green.md", "Green")).await.unwrap();
    scratch.propose(&ada, &project, "green").await.unwrap();

    scratch.check_after(Duration::hours(2)).await;

    let kept = scratch.db().read(move |tx| refs::find(tx, RefHolder::Repository(project.id)));
    let kept = kept.await.unwrap().unwrap();
    assert!(kept.counted && kept.checked_at.is_some(), "{kept:?}");
    assert!(kept.moves >= 3, "a branch, another one, and the head of a merge request: {kept:?}");
    assert!(scratch.reasons().await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repository_that_differs_is_told_until_it_is_as_it_was() {
    let scratch = Scratch::new().await;
    let ada = scratch.person("ada").await;
    let project = scratch.project(&ada, "tea").await;
    let tip = scratch.tip(&project, "main").await.unwrap();
    let repository = scratch.forge.storage.repository(project.id);
    let stray = |old: Option<_>, new| RefMove {
        name: repo::git::RefName::branch("stray").unwrap(),
        old: old.into(),
        new,
    };
    repo::git::refs::move_now(&repository, &[stray(None, Some(tip))]).await.unwrap();

    scratch.check_after(Duration::hours(2)).await;
    let told = scratch.reasons().await;
    assert!(
        told[0].starts_with(&format!("repository repository-{}: The refs", project.id)),
        "{told:?}"
    );
    assert_eq!(scratch.count_of("repository").await.failed, 1);

    repo::git::refs::move_now(&repository, &[stray(Some(tip), None)]).await.unwrap();
    scratch.check_after(Duration::hours(2)).await;
    assert!(scratch.reasons().await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_existing_installation_is_filled_in_by_the_first_check() {
    let scratch = Scratch::new().await;
    let ada = scratch.person("ada").await;
    let project = scratch.project(&ada, "tea").await;
    // As an upgrade leaves them: no sum was kept, and a wiki that was never made.
    let forgotten = scratch.db().write(move |tx| {
        refs::forget(tx, RefHolder::Repository(project.id))?;
        refs::toggle(tx, RefHolder::Repository(project.id), refs::RefSum::of_digest([1; 32]))
    });
    forgotten.await.unwrap();
    store(&scratch.file("uploads/00ff/1/plan.txt"), b"plan");
    assert_eq!(scratch.count_of("repository").await.checksummed, 0);

    scratch.check_after(Duration::minutes(1)).await;

    assert_eq!(scratch.count_of("repository").await.checksummed, 1);
    let found = scratch.db().read(|tx| files::find(tx, "uploads", "00ff/1/plan.txt"));
    let sha256 = found.await.unwrap().unwrap().sha256.unwrap();
    assert!(sha256.starts_with("64879f7d"), "{sha256}");
    assert!(!scratch.forge.storage.wiki_exists(Wiki::Project(project.id)));
}

fn store(place: &Path, content: &[u8]) {
    std::fs::create_dir_all(place.parent().unwrap()).unwrap();
    std::fs::write(place, content).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stored_file_has_its_checksum_at_once_and_is_read_again() {
    let scratch = Scratch::new().await;
    let mut incoming = scratch.forge.artifacts.begin("1/2/archive.zip").unwrap();
    incoming.write(b"archive").await.unwrap();
    let stored = incoming.finish().await.unwrap();
    let found = || scratch.db().read(|tx| files::find(tx, "artifacts", "1/2/archive.zip"));
    assert_eq!(found().await.unwrap().unwrap().sha256, Some(stored.sha256));

    store(&scratch.file("artifacts/1/2/archive.zip"), b"damaged");
    scratch.check_after(Duration::days(8)).await;
    let told = scratch.reasons().await;
    assert!(told[0].starts_with("artifacts 1/2/archive.zip: The content has SHA-256"), "{told:?}");

    std::fs::remove_file(scratch.file("artifacts/1/2/archive.zip")).unwrap();
    scratch.check_after(Duration::hours(2)).await;
    assert_eq!(scratch.reasons().await, ["artifacts 1/2/archive.zip: The file is not there."]);

    scratch.forge.artifacts.remove_below("1").await.unwrap();
    assert!(found().await.unwrap().is_some(), "it was gone before, and nobody removed it");
    scratch.forge.artifacts.remove("1/2/archive.zip").await.unwrap();
    assert_eq!(found().await.unwrap(), None);
}
