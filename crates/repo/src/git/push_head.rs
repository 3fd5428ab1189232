//! The head of a push, in front of its pack: the refs to move, and the capabilities of the client.

use super::hook::RefCommand;
use super::pkt_line::{self, Frame};

/// Commands and options of a push; a hundred thousand refs fit in.
const LONGEST: usize = 16 << 20;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PushHead {
    pub commands: Vec<RefCommand>,
    /// All refs move, or none.
    pub is_atomic: bool,
    /// What the pusher gave with `--push-option`.
    pub options: Vec<String>,
    /// Whether objects arrive. Refs to what is there already come with an empty pack, and a push that only deletes with
    /// none.
    pub brings_objects: bool,
}

/// Nobody pushes so many refs.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("too many refs in one push")]
pub struct TooLong;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Section {
    #[default]
    Commands,
    Options,
    /// What the pack says of itself.
    Pack,
    Over,
}

/// `PACK`, the version, and how many objects follow.
const PACK_HEAD: usize = 12;

/// Reads the head of a push as it arrives.
#[derive(Debug, Default)]
pub struct HeadReader {
    head: PushHead,
    section: Section,
    has_options: bool,
    rest: Vec<u8>,
    size: usize,
}

impl HeadReader {
    /// Takes what came next; true when the head is whole.
    pub fn push(&mut self, chunk: &[u8]) -> Result<bool, TooLong> {
        if self.section == Section::Over {
            return Ok(true);
        }
        self.size += chunk.len();
        self.rest.extend_from_slice(chunk);
        let rest = std::mem::take(&mut self.rest);
        let mut frames = pkt_line::frames(&rest);
        let mut end = 0;
        while matches!(self.section, Section::Commands | Section::Options)
            && let Some(Ok(frame)) = frames.next()
        {
            self.take(frame);
            end = rest.len() - frames.rest().len();
        }
        self.rest = rest.get(end..).unwrap_or_default().to_vec();
        if self.section == Section::Pack && self.rest.len() >= PACK_HEAD {
            self.head.brings_objects = !is_empty_pack(&self.rest);
            self.section = Section::Over;
        }
        let is_whole = self.section == Section::Over;
        if !is_whole && self.size > LONGEST { Err(TooLong) } else { Ok(is_whole) }
    }

    /// What was read; git itself complains about a head or a pack that breaks off.
    pub fn into_head(self) -> PushHead {
        // Only what was read to its end is known to bring nothing.
        let brings_objects = match self.section {
            Section::Over => self.head.brings_objects,
            Section::Pack => !self.rest.is_empty(),
            Section::Commands | Section::Options => true,
        };
        PushHead { brings_objects, ..self.head }
    }

    fn take(&mut self, frame: Frame<'_>) {
        match (self.section, frame) {
            (Section::Commands, Frame::Data(line)) => self.command(line),
            (Section::Options, Frame::Data(line)) => {
                let line = line.strip_suffix(b"\n").unwrap_or(line);
                self.head.options.push(String::from_utf8_lossy(line).into_owned());
            }
            (Section::Commands, _) if self.has_options => self.section = Section::Options,
            // No pack follows where nothing is named that could be in it.
            _ if self.head.commands.iter().all(|command| command.new.is_none()) => {
                self.section = Section::Over;
            }
            _ => self.section = Section::Pack,
        }
    }

    fn command(&mut self, line: &[u8]) {
        let mut parts = line.splitn(2, |byte| *byte == 0);
        let command = parts.next().unwrap_or_default();
        if let Some(features) = parts.next() {
            let has = |word: &[u8]| features.split(u8::is_ascii_whitespace).any(|one| one == word);
            (self.head.is_atomic, self.has_options) = (has(b"atomic"), has(b"push-options"));
        }
        let command = command.strip_suffix(b"\n").unwrap_or(command);
        // Lines about shallow clones stand between them.
        self.head.commands.extend(RefCommand::parse(command));
    }
}

fn is_empty_pack(start: &[u8]) -> bool {
    start.starts_with(b"PACK") && start[8..PACK_HEAD] == [0; 4]
}

#[cfg(test)]
mod tests {
    use super::{HeadReader, LONGEST, PushHead, TooLong};
    use crate::git::{Oid, hook::RefCommand, pkt_line::push_data, pkt_line::push_flush};

    const TREE: Oid = Oid::EMPTY_TREE;
    const PACK: &[u8] = b"PACK\0\0\0\x02\0\0\x01\0";

    fn head(features: &str, options: &[&str]) -> Vec<u8> {
        let mut bytes = Vec::new();
        push_data(&mut bytes, format!("shallow {TREE}").as_bytes());
        let first = format!("{} {TREE} refs/heads/a\0 report-status{features}", Oid::NULL);
        push_data(&mut bytes, first.as_bytes());
        push_data(&mut bytes, format!("{TREE} {} refs/heads/b\n", Oid::NULL).as_bytes());
        push_flush(&mut bytes);
        if !options.is_empty() {
            options.iter().for_each(|option| push_data(&mut bytes, option.as_bytes()));
            push_flush(&mut bytes);
        }
        bytes
    }

    fn commands() -> Vec<RefCommand> {
        vec![
            RefCommand { name: "refs/heads/a".into(), old: None, new: Some(TREE) },
            RefCommand { name: "refs/heads/b".into(), old: Some(TREE), new: None },
        ]
    }

    #[test]
    fn commands_and_options_are_read_however_they_are_cut() {
        let bytes = head(" atomic push-options agent=x", &["ci.skip", "a=b c"]);
        let bytes = [bytes, PACK.to_vec()].concat();
        let wanted = PushHead {
            commands: commands(),
            is_atomic: true,
            options: vec!["ci.skip".to_owned(), "a=b c".to_owned()],
            brings_objects: true,
        };
        for size in [1, 7, 100, 10_000] {
            let mut reader = HeadReader::default();
            let mut chunks = bytes.chunks(size).peekable();
            while let Some(chunk) = chunks.next() {
                assert_eq!(reader.push(chunk), Ok(chunks.peek().is_none()));
            }
            assert_eq!(reader.push(b"more"), Ok(true));
            assert_eq!(reader.into_head(), wanted);
        }
    }

    #[test]
    fn without_options_the_pack_follows_the_commands() {
        let mut reader = HeadReader::default();
        let bytes = [head("", &[]), PACK.to_vec()].concat();

        assert_eq!(reader.push(&bytes), Ok(true));

        let head = reader.into_head();
        assert_eq!((head.commands, head.is_atomic), (commands(), false));
        assert!(head.options.is_empty() && head.brings_objects);
    }

    #[test]
    fn a_push_without_objects_is_known_by_its_pack() {
        let brings = |pack: &[u8]| {
            let mut reader = HeadReader::default();
            let _ = reader.push(&[head("", &[]), pack.to_vec()].concat()).unwrap();
            reader.into_head().brings_objects
        };
        assert!(!brings(b"PACK\0\0\0\x02\0\0\0\0sum"));
        assert!(brings(PACK));
        assert!(brings(b"PACK\0\0") && brings(b"something else"), "git complains");
        let mut reader = HeadReader::default();
        let mut bytes = Vec::new();
        push_data(&mut bytes, format!("{TREE} {} refs/heads/b\0", Oid::NULL).as_bytes());
        push_flush(&mut bytes);
        assert_eq!(reader.push(&bytes), Ok(true), "only deletions");
        assert!(!reader.into_head().brings_objects);
    }

    #[test]
    fn a_head_without_end_is_too_long() {
        let mut reader = HeadReader::default();
        let chunk = vec![b'f'; LONGEST + 1];

        assert_eq!(reader.push(&chunk), Err(TooLong));
    }
}
