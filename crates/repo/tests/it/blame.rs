//! Blame, line by line as git prints it.

use forgeway_repo::commit::blame::lines_of;
use forgeway_repo::git::blame::{Blame, LineRange, blame};
use forgeway_repo::git::change::ActionKind::{Create, Move, Update};
use forgeway_repo::git::change::FileAction;
use forgeway_repo::git::{GitError, TreePath};

use crate::scratch::Scratch;

fn numbered(changed: &[usize]) -> String {
    (1..=30)
        .map(
            |n| {
                if changed.contains(&n) {
                    format!("\tchanged {n}\n")
                } else {
                    format!("line {n}\n")
                }
            },
        )
        .collect()
}

async fn with_history() -> Scratch {
    let scratch = Scratch::new().await;
    for text in [numbered(&[]), numbered(&[4, 5, 20]), numbered(&[4, 5, 6, 20, 29])] {
        let kind = if text == numbered(&[]) { Create } else { Update };
        scratch.commit(vec![FileAction::new(kind, "old name").content(text)]).await;
    }
    scratch.commit(vec![FileAction::new(Move, "d/a *").from("old name")]).await;
    scratch
}

async fn blamed(
    scratch: &Scratch,
    path: &str,
    lines: Option<LineRange>,
) -> Result<Blame, GitError> {
    let path = TreePath::lookup(path).unwrap();
    blame(&scratch.git, &scratch.repo, scratch.tip("main"), &path, lines).await
}

/// `<id> <text>` for each line of the file that is blamed.
fn flat(scratch: &Scratch, found: &Blame) -> Vec<String> {
    let content = scratch.ask(&["show", "main:d/a *"]);
    let mut lines = lines_of(content.as_bytes()).skip(usize::try_from(found.skipped).unwrap());
    let mut flat = Vec::new();
    for span in &found.spans {
        for line in lines.by_ref().take(usize::try_from(span.lines).unwrap()) {
            flat.push(format!("{} {}", span.commit, String::from_utf8_lossy(line)));
        }
    }
    flat
}

/// `<id> <text>` for each line, from the form that repeats everything.
fn as_git_says(scratch: &Scratch, options: &[&str]) -> Vec<String> {
    let words = [&["blame", "--line-porcelain"], options, &["main", "--", "d/a *"]].concat();
    let mut id = String::new();
    let mut lines = Vec::new();
    for line in scratch.ask(&words).lines() {
        match line.strip_prefix('\t') {
            Some(text) => lines.push(format!("{id} {text}")),
            None => {
                let first = line.split(' ').next().unwrap();
                if first.len() == 40 {
                    first.clone_into(&mut id);
                }
            }
        }
    }
    lines
}

#[tokio::test]
async fn every_line_has_the_commit_that_git_names() {
    let scratch = with_history().await;

    let found = blamed(&scratch, "d/a *", None).await.unwrap();

    assert_eq!(flat(&scratch, &found), as_git_says(&scratch, &[]));
    assert!(found.spans.windows(2).all(|pair| pair[0].commit != pair[1].commit));
    assert_eq!(found.spans.len(), 8);
}

#[tokio::test]
async fn a_range_is_cut_at_the_end_of_the_file() {
    let scratch = with_history().await;
    let range = |first, last| Some(LineRange { first, last });

    let middle = blamed(&scratch, "d/a *", range(5, 21)).await.unwrap();
    assert_eq!(flat(&scratch, &middle), as_git_says(&scratch, &["-L5,21"]));

    let end = blamed(&scratch, "d/a *", range(29, 99)).await.unwrap();
    assert_eq!(flat(&scratch, &end).len(), 2);
    assert_eq!(blamed(&scratch, "d/a *", range(31, 99)).await.unwrap(), Blame::default());
}

#[tokio::test]
async fn lines_are_bytes_and_the_last_needs_no_end() {
    let scratch = Scratch::new().await;
    let content: &[u8] = b"caf\xe9\r\n\n\ttab\nno end";
    scratch
        .commit(vec![
            FileAction::new(Create, "a").content(content),
            FileAction::new(Create, "empty").content(""),
        ])
        .await;

    let found = blamed(&scratch, "a", None).await.unwrap();

    assert_eq!(found.spans.iter().map(|span| span.lines).collect::<Vec<_>>(), [4]);
    assert_eq!(blamed(&scratch, "empty", None).await.unwrap(), Blame::default());
}

#[tokio::test]
async fn what_cannot_be_blamed_is_not_found() {
    let scratch = with_history().await;

    for path in ["none", "d", "d/*", "--output=x"] {
        assert!(matches!(blamed(&scratch, path, None).await, Err(GitError::NotFound)), "{path}");
    }
}
