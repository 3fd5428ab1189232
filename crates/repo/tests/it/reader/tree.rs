//! Trees, entries and blobs.

use bstr::{BString, ByteSlice as _};
use bytes::Bytes;
use forgeway_repo::{
    git::{
        Deadline, EntryInfo, EntryKind, Git, GitError, TreePage, TreePath, blob_stream,
        cli::Settings,
    },
    testing::{Entry, Fixture, History},
};
use futures_util::TryStreamExt as _;

use super::{text, told};

/// As `git ls-tree -z` prints an entry.
fn row(entry: &EntryInfo) -> BString {
    let head = format!("{} {} {}\t", entry.mode.as_str(), entry.kind().as_str(), entry.id);
    [head.as_bytes(), entry.path.as_bstr()].concat().into()
}

fn rows(fixture: &Fixture, arguments: &[&str]) -> Vec<BString> {
    let output = fixture.git(&[&["ls-tree", "-z"], arguments].concat());
    output.split_str("\0").filter(|row| !row.is_empty()).map(BString::from).collect()
}

#[test]
fn deep_listings_are_those_of_git() {
    for fixture in told() {
        let reader = fixture.reader();
        for name in ["main", "main~2", "v0.1", "orphan"] {
            let expected = rows(&fixture, &["-r", "-t", name]);
            let found =
                reader.list(fixture.id(name), &TreePath::ROOT, true, TreePage::default()).unwrap();
            assert_eq!(found.iter().map(row).collect::<Vec<_>>(), expected);
        }
        let docs = TreePath::new("docs").unwrap();
        let found = reader.list(fixture.id("main"), &docs, true, TreePage::default()).unwrap();
        assert_eq!(
            found.iter().map(row).collect::<Vec<_>>(),
            rows(&fixture, &["-r", "main", "docs/"])
        );
    }
}

#[test]
fn a_flat_listing_has_folders_first_and_submodules_last() {
    let fixture = Fixture::new();
    let reader = fixture.reader();

    let found =
        reader.list(fixture.id("main"), &TreePath::ROOT, false, TreePage::default()).unwrap();

    let mut expected = rows(&fixture, &["main"]);
    expected.sort();
    let mut sorted: Vec<_> = found.iter().map(row).collect();
    sorted.sort();
    assert_eq!(sorted, expected);
    let kinds: Vec<_> = found.iter().map(EntryInfo::kind).collect();
    assert!(kinds.is_sorted());
    assert_eq!((kinds[0], kinds.last().copied()), (EntryKind::Tree, Some(EntryKind::Commit)));
    assert!(
        found
            .chunk_by(|one, other| one.kind() == other.kind())
            .all(|group| group.is_sorted_by_key(|entry| entry.path.clone()))
    );
}

#[test]
fn listings_come_in_pages() {
    let fixture = Fixture::new();
    let reader = fixture.reader();
    let main = fixture.id("main");
    for deep in [false, true] {
        let all = reader.list(main, &TreePath::ROOT, deep, TreePage::default()).unwrap();
        let pages = (0..=all.len() / 3).flat_map(|page| {
            let page = TreePage { skip: page * 3, take: Some(3) };
            reader.list(main, &TreePath::ROOT, deep, page).unwrap()
        });
        assert_eq!(pages.collect::<Vec<_>>(), all);
    }
}

#[test]
fn entries_are_found_by_path() {
    for fixture in told() {
        let reader = fixture.reader();
        let main = fixture.id("main");
        for entry in reader.list(main, &TreePath::ROOT, true, TreePage::default()).unwrap() {
            assert_eq!(reader.entry(main, &entry.path).unwrap(), entry);
        }
        for path in ["none", "docs/none", "topic.txt/x", "module/x", "README.md/inner.txt/x"] {
            assert!(matches!(
                reader.entry(main, &TreePath::new(path).unwrap()),
                Err(GitError::NotFound)
            ));
        }
        let root = reader.entry(main, &TreePath::ROOT).unwrap();
        assert_eq!(root.id.to_string(), fixture.lines(&["rev-parse", "main^{tree}"])[0]);
        let file = TreePath::new("topic.txt").unwrap();
        assert!(matches!(
            reader.list(main, &file, false, TreePage::default()),
            Err(GitError::NotFound)
        ));
        assert!(reader.entry(main, &file).unwrap().is_executable());
    }
}

#[test]
fn blobs_are_read_within_bounds() {
    let fixture = Fixture::new();
    let reader = fixture.reader();
    let main = fixture.id("main");
    let entry = reader.entry(main, &TreePath::new("lib/program.c").unwrap()).unwrap();
    let expected = fixture.git(&["cat-file", "blob", "main:lib/program.c"]);

    let info = reader.blob_info(entry.id).unwrap();

    assert_eq!(info.size, u64::try_from(expected.len()).unwrap());
    assert_eq!(reader.blob(entry.id, info.size).unwrap(), expected);
    assert!(matches!(reader.blob(entry.id, info.size - 1), Err(GitError::TooLarge)));
    assert!(matches!(reader.blob(main, 1 << 20), Err(GitError::NotFound)));
    let hash = "f1f2cbcb30e2b1d1ee2d1ae0ab3cf5ab21d53ec0b45bd1e8f6bf1b3e0b5d3c16";
    assert_eq!(reader.blob_sha256(entry.id, 1 << 20).unwrap().len(), hash.len());
    let empty = text(&fixture.git_with(&["hash-object", "-w", "--stdin"], b""));
    let empty = reader.blob_sha256(empty.trim().parse().unwrap(), 0).unwrap();
    assert_eq!(empty, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

#[test]
fn the_project_introduces_itself() {
    let fixture = Fixture::new();
    let reader = fixture.reader();
    let path = |entry: Option<EntryInfo>| entry.map(|entry| entry.path.to_string());
    let old = fixture.id("v1.0");

    assert_eq!(path(reader.readme(old).unwrap()).as_deref(), Some("README.md"));
    assert_eq!(
        path(reader.readme(fixture.id("main")).unwrap()),
        None,
        "a folder introduces nothing"
    );
    let licenses = |at| reader.licenses(at).unwrap().into_iter().map(|entry| path(Some(entry)));
    assert_eq!(licenses(fixture.id("main")).collect::<Vec<_>>(), [Some("LICENSE".to_owned())]);
    assert_eq!(licenses(old).count(), 0);
    let languages = reader.languages(old, Deadline::NEVER).unwrap();
    assert_eq!(languages.iter().map(|(name, _)| *name).collect::<Vec<_>>(), ["C"]);
    assert!(reader.disk_size().unwrap() > 1000);
}

#[tokio::test]
async fn large_blobs_are_streamed_in_pieces() {
    let fixture = Fixture::new();
    let content: Vec<u8> = (0..3_000_000_u32).flat_map(u32::to_le_bytes).collect();
    let output = text(&fixture.git_with(&["hash-object", "-w", "--stdin"], &content));
    let settings = Settings::new("/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin".into());
    let git = Git::find(settings).await.unwrap();

    let stream = blob_stream(&git, &fixture.path, output.trim().parse().unwrap()).await.unwrap();
    let pieces: Vec<Bytes> = stream.try_collect().await.unwrap();

    assert!(pieces.len() > 100);
    assert!(pieces.concat() == content);
    let missing = blob_stream(&git, &fixture.path, fixture.id("main")).await.unwrap();
    assert!(missing.try_collect::<Vec<Bytes>>().await.is_err());
}

#[test]
fn folders_without_end_are_refused() {
    let mut history = History::new();
    let deep = format!("{}file", "d/".repeat(2000));
    let first = history.commit("main", 1_600_000_000, "Start\n", &[], &[Entry::file("a", "a\n")]);
    history.commit("main", 1_600_000_100, "Deep\n", &[first], &[Entry::file(&deep, "x\n")]);
    let fixture = Fixture::of(history);
    let reader = fixture.reader();
    let main = fixture.id("main");

    let listed = reader.list(main, &TreePath::ROOT, true, TreePage::default());
    let stats = reader.stats(main, Deadline::NEVER);

    assert!(matches!(listed, Err(GitError::TooLarge)));
    assert!(matches!(stats, Err(GitError::TooLarge)));
    assert_eq!(reader.list(main, &TreePath::ROOT, false, TreePage::default()).unwrap().len(), 2);
}
