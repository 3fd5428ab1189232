//! A history, told commit by commit.

use std::collections::HashSet;

/// A commit that was told already.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Mark(usize);

/// The change of one path in a commit. Paths are bytes, since git's are.
#[derive(Clone, Debug)]
pub enum Entry {
    File(Vec<u8>, Vec<u8>),
    Executable(Vec<u8>, Vec<u8>),
    Link(Vec<u8>, Vec<u8>),
    Submodule(Vec<u8>, String),
    Delete(Vec<u8>),
    Rename(Vec<u8>, Vec<u8>),
}

impl Entry {
    pub fn file(path: &str, content: &str) -> Self {
        Self::File(path.into(), content.into())
    }

    pub fn delete(path: &str) -> Self {
        Self::Delete(path.into())
    }

    pub fn rename(from: &str, to: &str) -> Self {
        Self::Rename(from.into(), to.into())
    }
}

const PEOPLE: [&str; 4] = [
    "Ada Lovelace <ada@example.com>",
    "Grace Hopper <grace@example.com>",
    "Jürgen Müller <juergen@example.com>",
    "ada <ADA@example.com>",
];

/// Collects a stream for `git fast-import`.
#[derive(Debug, Default)]
pub struct History {
    stream: Vec<u8>,
    commits: usize,
    started: HashSet<String>,
}

impl History {
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a commit to the end of `branch`, or starts the branch at the first of `parents`. Without parents it is
    /// a root.
    pub fn commit(
        &mut self,
        branch: &str,
        at: i64,
        message: &str,
        parents: &[Mark],
        entries: &[Entry],
    ) -> Mark {
        let name = format!("refs/heads/{branch}");
        self.commits += 1;
        let mark = Mark(self.commits);
        if parents.is_empty() && !self.started.insert(branch.to_owned()) {
            self.line(&format!("reset {name}\n"));
        }
        let author = PEOPLE[mark.0 % PEOPLE.len()];
        let committer = PEOPLE[mark.0 / 2 % PEOPLE.len()];
        self.line(&format!("commit {name}"));
        self.line(&format!("mark :{}", mark.0));
        self.line(&format!("author {author} {} +0200", at - 60));
        self.line(&format!("committer {committer} {at} -0330"));
        self.data(message.as_bytes());
        for (nth, parent) in parents.iter().enumerate() {
            let word = if nth == 0 { "from" } else { "merge" };
            self.line(&format!("{word} :{}", parent.0));
        }
        for entry in entries {
            self.entry(entry);
        }
        self.line("");
        mark
    }

    pub fn branch(&mut self, name: &str, at: Mark) {
        self.reference(&format!("refs/heads/{name}"), at);
    }

    pub fn lightweight_tag(&mut self, name: &str, at: Mark) {
        self.reference(&format!("refs/tags/{name}"), at);
    }

    pub fn reference(&mut self, name: &str, at: Mark) {
        self.line(&format!("reset {name}\nfrom :{}\n", at.0));
    }

    pub fn annotated_tag(&mut self, name: &str, at: Mark, message: &str) {
        self.line(&format!("tag {name}\nfrom :{}", at.0));
        self.line(&format!("tagger {} 1600100000 +0100", PEOPLE[0]));
        self.data(message.as_bytes());
    }

    pub(super) fn into_stream(mut self) -> Vec<u8> {
        self.line("done");
        self.stream
    }

    fn entry(&mut self, entry: &Entry) {
        match entry {
            Entry::File(path, content) => self.content("100644", path, content),
            Entry::Executable(path, content) => self.content("100755", path, content),
            Entry::Link(path, target) => self.content("120000", path, target),
            Entry::Submodule(path, id) => {
                self.words(&[b"M 160000", id.as_bytes(), &quoted(path)]);
            }
            Entry::Delete(path) => self.words(&[b"D", &quoted(path)]),
            Entry::Rename(from, to) => self.words(&[b"R", &quoted(from), &quoted(to)]),
        }
    }

    fn content(&mut self, mode: &str, path: &[u8], content: &[u8]) {
        self.words(&[b"M", mode.as_bytes(), b"inline", &quoted(path)]);
        self.data(content);
    }

    fn data(&mut self, bytes: &[u8]) {
        self.line(&format!("data {}", bytes.len()));
        self.stream.extend_from_slice(bytes);
        self.stream.push(b'\n');
    }

    fn words(&mut self, words: &[&[u8]]) {
        self.stream.extend_from_slice(&words.join(&b' '));
        self.stream.push(b'\n');
    }

    fn line(&mut self, line: &str) {
        self.words(&[line.as_bytes()]);
    }
}

/// A path as fast-import reads it whatever it holds.
fn quoted(path: &[u8]) -> Vec<u8> {
    let mut text = vec![b'"'];
    for byte in path {
        match byte {
            b'"' | b'\\' => text.extend_from_slice(&[b'\\', *byte]),
            0x20..=0x7e => text.push(*byte),
            _ => text.extend_from_slice(format!("\\{byte:03o}").as_bytes()),
        }
    }
    text.push(b'"');
    text
}
