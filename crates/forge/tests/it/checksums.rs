//! Checksums of repositories and files, and the check that holds them against what lies there.

use std::path::Path;

use db::checksum::{
    ChecksumCount, failures, files,
    refs::{self, RefHolder},
};
use forgeway_forge::checksums::{accept_refs, has_other_refs};
use geo::node::{GeoNode, NodeStore as _};
use kernel::ids::{GeoNodeId, ProjectId};
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

impl Scratch {
    /// The primary node, which says how often is checked and how many at once.
    async fn node(&self, days: i64, at_once: i64) {
        let made = self.db().write(move |tx| {
            let node = GeoNode {
                id: GeoNodeId(0),
                name: "main".to_owned(),
                url: "http://forge.test/".to_owned(),
                internal_url: None,
                primary: true,
                enabled: true,
                files_max_capacity: 10,
                repos_max_capacity: 25,
                verification_max_capacity: at_once,
                container_repositories_max_capacity: 10,
                minimum_reverification_interval: days,
                selective_sync_type: None,
                selective_sync_shards: "[]".to_owned(),
                sync_object_storage: false,
                access_key: "0123".to_owned(),
                sealed: String::new(),
                oauth_application_id: None,
                created_at: tx.now,
                updated_at: tx.now,
            };
            tx.insert_geo_node(&node)
        });
        made.await.unwrap();
    }

    /// A file that is not what was stored.
    async fn damaged_file(&self) {
        let mut incoming = self.forge.artifacts.begin("1/2/archive.zip").unwrap();
        incoming.write(b"archive").await.unwrap();
        incoming.finish().await.unwrap();
        store(&self.file("artifacts/1/2/archive.zip"), b"damaged");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_says_how_often_files_and_repositories_are_checked() {
    let scratch = Scratch::new().await;
    scratch.damaged_file().await;
    scratch.check_after(Duration::days(2)).await;
    assert!(scratch.reasons().await.is_empty(), "the usual time is a week");
    scratch.node(1, 100).await;

    scratch.check_after(Duration::minutes(1)).await;
    scratch.check_after(Duration::days(1)).await;

    assert_eq!(scratch.reasons().await.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_without_capacity_checks_nothing() {
    let scratch = Scratch::new().await;
    scratch.damaged_file().await;
    scratch.node(1, 0).await;

    scratch.check_after(Duration::days(30)).await;

    assert!(scratch.reasons().await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn refs_that_differ_may_be_taken_as_they_are() {
    let scratch = Scratch::new().await;
    let ada = scratch.person("ada").await;
    let project = scratch.project(&ada, "tea").await;
    let tip = scratch.tip(&project, "main").await.unwrap();
    let name = repo::git::RefName::branch("stray").unwrap();
    let stray = RefMove { name, old: None.into(), new: Some(tip) };
    let repository = scratch.forge.storage.repository(project.id);
    repo::git::refs::move_now(&repository, &[stray]).await.unwrap();
    scratch.check_after(Duration::hours(2)).await;
    let place = RefHolder::Repository(project.id);
    assert_eq!(scratch.reasons().await.len(), 1);
    assert!(has_other_refs(&scratch.forge, place).await.unwrap());

    let sum = accept_refs(&scratch.forge, place).await.unwrap();

    let kept = scratch.db().read(move |tx| refs::find(tx, place)).await.unwrap().unwrap();
    assert_eq!((kept.sum, kept.failure), (sum, None));
    assert!(!has_other_refs(&scratch.forge, place).await.unwrap());
    let unknown = RefHolder::Repository(ProjectId(999));
    assert!(accept_refs(&scratch.forge, unknown).await.is_err());
}
