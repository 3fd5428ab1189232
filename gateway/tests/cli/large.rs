//! Files that are too large to be kept in memory.

use crate::support::{Git, Installation};

const SIZE: usize = 100 << 20;
/// What one request for such a file may take.
const ROOM: usize = 32 << 20;

#[test]
fn a_file_of_a_hundred_megabytes_is_sent_piece_by_piece() {
    let forge = Installation::new();
    let server = forge.start();
    let git = Git::new(forge.folder.path(), "work");
    std::fs::write(git.folder.join("large"), vec![b'x'; SIZE]).unwrap();
    git.commit("large");
    git.run(&["push", "-q", &forge.remote("root/large"), "main"]);
    let file = "/api/v4/projects/root%2Flarge/repository/files/large";
    let before = server.most_memory();

    let raw = server.get(&format!("{file}/raw"));
    let shown = server.get(&format!("{file}?ref=main"));

    assert_eq!((raw.status, raw.text.len()), (200, SIZE));
    assert_eq!(raw.header("x-gitlab-size"), Some(SIZE.to_string().as_str()));
    let (record, end) = (&shown.text[..200], &shown.text[shown.text.len() - 6..]);
    assert!(
        record.starts_with("{\"file_name\":\"large\",\"file_path\":\"large\",\"size\":104857600,")
    );
    assert_eq!((shown.status, end), (200, "eA==\"}"));
    let grown = server.most_memory() - before;
    assert!(grown < ROOM, "{grown} bytes more than before");
    server.stop();
}
