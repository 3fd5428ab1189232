//! Blame, line by line as git prints it.

use bytes::Bytes;
use forgeway_repo::git::blame::{BlameRange, LineRange, blame};
use forgeway_repo::git::change::ActionKind::{Create, Move, Update};
use forgeway_repo::git::change::FileAction;
use forgeway_repo::git::{GitError, TreePath};

use crate::scratch::Scratch;

const LIMIT: u64 = 1024 * 1024;

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
) -> Result<Vec<BlameRange>, GitError> {
    let path = TreePath::lookup(path).unwrap();
    blame(&scratch.git, &scratch.repo, scratch.tip("main"), &path, lines, LIMIT).await
}

fn flat(ranges: &[BlameRange]) -> Vec<String> {
    let lines =
        ranges.iter().flat_map(|range| range.lines.iter().map(move |line| (range.commit, line)));
    lines.map(|(commit, line)| format!("{commit} {}", String::from_utf8_lossy(line))).collect()
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

    let ranges = blamed(&scratch, "d/a *", None).await.unwrap();

    assert_eq!(flat(&ranges), as_git_says(&scratch, &[]));
    assert!(ranges.windows(2).all(|pair| pair[0].commit != pair[1].commit));
    assert_eq!(ranges.len(), 8);
}

#[tokio::test]
async fn a_range_is_cut_at_the_end_of_the_file() {
    let scratch = with_history().await;
    let range = |first, last| Some(LineRange { first, last });

    let middle = blamed(&scratch, "d/a *", range(5, 21)).await.unwrap();
    assert_eq!(flat(&middle), as_git_says(&scratch, &["-L5,21"]));

    assert_eq!(flat(&blamed(&scratch, "d/a *", range(29, 99)).await.unwrap()).len(), 2);
    assert!(blamed(&scratch, "d/a *", range(31, 99)).await.unwrap().is_empty());
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

    let ranges = blamed(&scratch, "a", None).await.unwrap();

    let lines: [&[u8]; 4] = [b"caf\xe9\r", b"", b"\ttab", b"no end"];
    assert_eq!(ranges[0].lines, lines.map(Bytes::copy_from_slice));
    assert!(blamed(&scratch, "empty", None).await.unwrap().is_empty());
}

#[tokio::test]
async fn what_cannot_be_blamed_is_not_found() {
    let scratch = with_history().await;

    for path in ["none", "d", "d/*", "--output=x"] {
        assert!(matches!(blamed(&scratch, path, None).await, Err(GitError::NotFound)), "{path}");
    }
}

#[tokio::test]
async fn a_blame_beyond_the_limit_is_refused() {
    let scratch = with_history().await;
    let path = TreePath::new("d/a *").unwrap();

    let refused = blame(&scratch.git, &scratch.repo, scratch.tip("main"), &path, None, 500).await;

    assert!(matches!(refused, Err(GitError::TooLarge)));
}
