//! Tags, copies and maintenance: git agrees with what is left on disk.

use std::time::Duration;

use forgeway_repo::git::change::ActionKind::{Create, Update};
use forgeway_repo::git::change::FileAction;
use forgeway_repo::git::maintenance::{UnreachableObjects, state, thorough, tidy};
use forgeway_repo::git::refs::move_now;
use forgeway_repo::git::tag::{Annotation, create};
use forgeway_repo::git::{RefName, fork};

use crate::scratch::{Scratch, ask_in, person, run_in};

async fn with_history() -> Scratch {
    let scratch = Scratch::new().await;
    scratch.commit(vec![FileAction::new(Create, "a").content("0")]).await;
    for n in 1..10 {
        scratch.commit(vec![FileAction::new(Update, "a").content(n.to_string())]).await;
    }
    scratch
}

async fn tag(scratch: &Scratch, name: &str, message: Option<&str>) {
    let annotation =
        message.map(|text| Annotation { tagger: person("Tina Tagger"), message: text.to_owned() });
    let name = RefName::tag(name).unwrap();
    let step =
        create(&scratch.git, &scratch.repo, name, scratch.tip("main"), annotation).await.unwrap();
    move_now(&scratch.repo, &[step]).await.unwrap();
}

#[tokio::test]
async fn a_tag_is_a_name_or_an_object_with_a_message() {
    let scratch = with_history().await;

    tag(&scratch, "light", None).await;
    tag(&scratch, "v1/final", Some("First release\n\nAt last")).await;

    assert_eq!(scratch.ask(&["cat-file", "-t", "light"]), "commit");
    assert_eq!(
        scratch.ask(&["cat-file", "tag", "v1/final"]),
        format!(
            "object {}\ntype commit\ntag v1/final\ntagger Tina Tagger <tina@example.com> 1700000000 +0100\n\nFirst release\n\nAt last",
            scratch.tip("main")
        )
    );
    scratch.fsck();
}

#[tokio::test]
async fn a_copy_has_the_branches_and_tags_and_nothing_else() {
    let scratch = with_history().await;
    tag(&scratch, "v1", Some("One")).await;
    scratch.ask(&["update-ref", "refs/keep-around/1", "main~3"]);
    scratch.ask(&["update-ref", "refs/heads/topic/x", "main~1"]);
    scratch.ask(&["symbolic-ref", "HEAD", "refs/heads/topic/x"]);
    scratch.ask(&["repack", "-q", "-d"]);
    scratch.commit(vec![FileAction::new(Create, "loose").content("x")]).await;
    let fork = scratch.another(2);

    fork::copy(&scratch.git, &scratch.repo, &fork).await.unwrap();

    let refs = ["for-each-ref", "refs/heads", "refs/tags"];
    assert_eq!(ask_in(&fork, &["for-each-ref"]), scratch.ask(&refs));
    assert_eq!(ask_in(&fork, &["symbolic-ref", "HEAD"]), "refs/heads/topic/x");
    assert_eq!(
        ask_in(&fork, &["rev-parse", "v1^{commit}"]),
        scratch.ask(&["rev-parse", "v1^{commit}"])
    );
    std::fs::remove_dir_all(scratch.repo.as_path()).unwrap();
    ask_in(&fork, &["fsck", "--strict", "--full"]);
    assert_eq!(ask_in(&fork, &["rev-list", "--count", "main"]), "11");
}

#[tokio::test]
async fn a_copy_of_nothing_is_empty() {
    let scratch = Scratch::new().await;
    let fork = scratch.another(2);

    fork::copy(&scratch.git, &scratch.repo, &fork).await.unwrap();

    assert_eq!(ask_in(&fork, &["for-each-ref"]), "");
    assert_eq!(ask_in(&fork, &["symbolic-ref", "HEAD"]), "refs/heads/main");
}

#[tokio::test]
async fn tidying_writes_the_graph_and_repacks_only_what_piled_up() {
    let scratch = with_history().await;

    tidy(&scratch.git, &scratch.repo).await.unwrap();
    let before = state(&scratch.git, &scratch.repo).await.unwrap();
    for n in 0..600 {
        let blob = scratch.repo.as_path().join(format!("blob-{n}"));
        std::fs::write(&blob, n.to_string()).unwrap();
    }
    let names: Vec<String> = (0..600)
        .map(|n| scratch.repo.as_path().join(format!("blob-{n}")).display().to_string())
        .collect();
    let words: Vec<&str> =
        ["hash-object", "-w", "--"].into_iter().chain(names.iter().map(String::as_str)).collect();
    scratch.ask(&words);
    tidy(&scratch.git, &scratch.repo).await.unwrap();

    let after = state(&scratch.git, &scratch.repo).await.unwrap();
    assert_eq!((before.packs, before.loose), (0, 30));
    assert!(after.packs == 1 && after.loose < 600, "{after:?}");
    assert!(scratch.repo.as_path().join("objects/info/commit-graphs/commit-graph-chain").is_file());
    assert!(scratch.repo.as_path().join("packed-refs").is_file());
    scratch.ask(&["commit-graph", "verify"]);
    scratch.fsck();
}

#[tokio::test]
async fn tidying_puts_many_refs_into_one_file() {
    let scratch = with_history().await;
    let (folder, tip) = (scratch.repo.as_path().to_owned(), scratch.tip("main"));
    let loose = |count: u32| {
        for n in 0..count {
            std::fs::write(folder.join(format!("refs/tags/v{n}")), format!("{tip}\n")).unwrap();
        }
    };

    loose(20);
    tidy(&scratch.git, &scratch.repo).await.unwrap();
    let before = folder.join("packed-refs").is_file();
    loose(100);
    tidy(&scratch.git, &scratch.repo).await.unwrap();

    assert!(!before && !folder.join("refs/tags/v99").exists());
    assert_eq!(scratch.ask(&["tag", "--list"]).lines().count(), 100);
    scratch.fsck();
}

#[tokio::test]
async fn a_thorough_repack_keeps_or_drops_what_no_ref_leads_to() {
    let scratch = with_history().await;
    scratch.ask(&["repack", "-q", "-a", "-d"]);
    let lost = scratch.commit(vec![FileAction::new(Create, "lost").content("x")]).await.to_string();
    scratch.ask(&["update-ref", "refs/heads/main", "main~2"]);
    let day = Duration::from_secs(24 * 3600);

    thorough(&scratch.git, &scratch.repo, UnreachableObjects::Keep).await.unwrap();
    let kept = state(&scratch.git, &scratch.repo).await.unwrap();
    thorough(&scratch.git, &scratch.repo, UnreachableObjects::DropOlderThan(day)).await.unwrap();

    assert_eq!((kept.packs, kept.loose), (1, 0));
    assert_eq!(scratch.ask(&["cat-file", "-t", &lost]), "commit");
    age_all_objects(&scratch, 2 * day);
    thorough(&scratch.git, &scratch.repo, UnreachableObjects::DropOlderThan(day)).await.unwrap();
    assert!(!run_in(&scratch.repo, &["cat-file", "-t", &lost]).status.success());
    assert_eq!(scratch.ask(&["rev-list", "--count", "main"]), "9");
    scratch.fsck();
}

fn age_all_objects(scratch: &Scratch, age: Duration) {
    let objects = scratch.repo.as_path().join("objects");
    for folder in std::fs::read_dir(objects).unwrap() {
        let folder = folder.unwrap().path();
        for file in std::fs::read_dir(folder).unwrap() {
            let file = std::fs::File::open(file.unwrap().path()).unwrap();
            let written = file.metadata().unwrap().modified().unwrap();
            file.set_modified(written - age).unwrap();
        }
    }
}
