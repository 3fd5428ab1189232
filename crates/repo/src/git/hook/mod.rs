//! Git hooks that call the server: once while a push is in quarantine, and once to move its refs.
//!
//! Git runs two hooks, or one where nothing arrives; they are links to our own program. They carry what git says over a unix socket to the server that
//! started the push, and its answer back. Nothing else is decided in them, and git itself locks and moves no ref.

mod client;
mod hook_folder;
mod server;

use std::path::PathBuf;

use bstr::{BString, ByteSlice};

pub use client::run_if_called;
pub use hook_folder::Hooks;
pub use server::{Listener, Referee, listen};

use super::pkt_line::{self, Frame};
use super::{GitError, Oid};

/// Names the socket in the environment of a push.
pub const SOCKET: &str = "FORGEWAY_HOOK_SOCKET";
/// Carries the signed statement of whose push it is.
pub const IDENTITY: &str = "FORGEWAY_HOOK_IDENTITY";

const PRE_RECEIVE: &str = "pre-receive";
const PROC_RECEIVE: &str = "proc-receive";

/// Whether a program of this name is one of our hooks.
pub(super) fn is_hook(program: &[u8]) -> bool {
    let name = program.rsplit_str("/").next().unwrap_or_default();
    [PRE_RECEIVE, PROC_RECEIVE].iter().any(|hook| hook.as_bytes() == name)
}

/// The stage of a push.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// Everything has arrived; its objects are still in quarantine.
    Received,
    /// The objects have left quarantine: the refs are to move.
    Settled,
}

impl Moment {
    const ALL: [Self; 2] = [Self::Received, Self::Settled];

    fn word(self) -> &'static str {
        match self {
            Self::Received => "received",
            Self::Settled => "settled",
        }
    }

    fn find(word: &[u8]) -> Option<Self> {
        Self::ALL.into_iter().find(|moment| moment.word().as_bytes() == word)
    }
}

/// One ref as the pusher names it: nothing about the name is checked yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefCommand {
    pub name: BString,
    pub old: Option<Oid>,
    pub new: Option<Oid>,
}

impl RefCommand {
    /// `<old> <new> <name>`, as git writes it.
    pub(super) fn parse(line: &[u8]) -> Option<Self> {
        let mut parts = line.splitn_str(3, " ");
        let mut id = || -> Option<Option<Oid>> {
            let id: Oid = parts.next()?.to_str().ok()?.parse().ok()?;
            Some((!id.is_null()).then_some(id))
        };
        let (old, new) = (id()?, id()?);
        Some(Self { name: parts.next()?.into(), old, new })
    }

    fn line(&self) -> Vec<u8> {
        let id = |id: Option<Oid>| id.unwrap_or(Oid::NULL);
        let mut line = format!("{} {} ", id(self.old), id(self.new)).into_bytes();
        line.extend_from_slice(&self.name);
        line
    }
}

/// The request of a hook process to the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookRequest {
    pub identity: String,
    pub moment: Moment,
    /// The folder of the objects that have just arrived, where there are any.
    pub quarantine: Option<PathBuf>,
    pub commands: Vec<RefCommand>,
}

/// The answer of the server to a hook process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    Yes,
    /// The push ends here; the pusher reads these lines.
    No(Vec<String>),
    /// What became of each ref.
    Report(Report),
}

/// The result of a push for each ref.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Each name, with the reason where the ref stays as it was.
    pub refs: Vec<(BString, Option<String>)>,
    /// The pusher reads these lines.
    pub lines: Vec<String>,
}

impl Report {
    /// All stay as they were.
    pub fn refusing(commands: &[RefCommand], reason: &str, lines: Vec<String>) -> Self {
        let refuse = |command: &RefCommand| (command.name.clone(), Some(reason.to_owned()));
        Self { refs: commands.iter().map(refuse).collect(), lines }
    }

    /// `ok <name>` or `ng <name> <reason>`, as git reads it. A reason takes one line.
    fn status(name: &BString, reason: Option<&str>) -> Vec<u8> {
        let mut line = if reason.is_none() { b"ok ".to_vec() } else { b"ng ".to_vec() };
        line.extend_from_slice(name);
        if let Some(reason) = reason {
            let first = reason.lines().next().filter(|line| !line.is_empty()).unwrap_or("refused");
            line.push(b' ');
            line.extend_from_slice(first.as_bytes());
        }
        line
    }

    fn take_status(&mut self, line: &[u8]) -> Option<()> {
        let (word, rest) = line.split_once_str(" ")?;
        let (name, reason) = match word {
            b"ok" => (rest, None),
            b"ng" => {
                let (name, reason) = rest.split_once_str(" ")?;
                (name, Some(reason.to_str_lossy().into_owned()))
            }
            _ => return None,
        };
        self.refs.push((name.into(), reason));
        Some(())
    }

    fn encode(&self, bytes: &mut Vec<u8>) {
        for line in &self.lines {
            pkt_line::push_data(bytes, format!("say {line}").as_bytes());
        }
        for (name, reason) in &self.refs {
            pkt_line::push_data(bytes, &Self::status(name, reason.as_deref()));
        }
    }

    fn decode(lines: &[&[u8]]) -> Option<Self> {
        let mut report = Self::default();
        for line in lines {
            match line.strip_prefix(b"say ") {
                Some(text) => report.lines.push(text.to_str_lossy().into_owned()),
                None => report.take_status(line)?,
            }
        }
        Some(report)
    }
}

impl HookRequest {
    fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        pkt_line::push_data(&mut bytes, self.identity.as_bytes());
        pkt_line::push_data(&mut bytes, self.moment.word().as_bytes());
        let quarantine = self.quarantine.as_deref().unwrap_or("".as_ref());
        pkt_line::push_data(&mut bytes, quarantine.as_os_str().as_encoded_bytes());
        for command in &self.commands {
            pkt_line::push_data(&mut bytes, &command.line());
        }
        pkt_line::push_flush(&mut bytes);
        bytes
    }

    fn decode(bytes: &[u8]) -> Result<Self, GitError> {
        let data = words(bytes)?;
        let [identity, moment, quarantine, commands @ ..] = data.as_slice() else {
            return Err(strange());
        };
        let commands = commands.iter().map(|line| RefCommand::parse(line).ok_or_else(strange));
        let quarantine = quarantine.to_path().or(Err(strange()))?;
        Ok(Self {
            identity: identity.to_str().or(Err(strange()))?.to_owned(),
            moment: Moment::find(moment).ok_or_else(strange)?,
            quarantine: (!quarantine.as_os_str().is_empty()).then(|| quarantine.to_owned()),
            commands: commands.collect::<Result<_, _>>()?,
        })
    }
}

impl Answer {
    fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        match self {
            Self::Yes => pkt_line::push_data(&mut bytes, b"yes"),
            Self::No(lines) => {
                pkt_line::push_data(&mut bytes, b"no");
                for line in lines {
                    pkt_line::push_data(&mut bytes, line.as_bytes());
                }
            }
            Self::Report(report) => {
                pkt_line::push_data(&mut bytes, b"report");
                report.encode(&mut bytes);
            }
        }
        pkt_line::push_flush(&mut bytes);
        bytes
    }

    fn decode(bytes: &[u8]) -> Result<Self, GitError> {
        match words(bytes)?.as_slice() {
            [b"yes"] => Ok(Self::Yes),
            [b"no", lines @ ..] => {
                Ok(Self::No(lines.iter().map(|line| line.to_str_lossy().into_owned()).collect()))
            }
            [b"report", lines @ ..] => Report::decode(lines).map(Self::Report).ok_or_else(strange),
            _ => Err(strange()),
        }
    }
}

/// The frames up to the flush that ends a message: without it the other side broke off.
fn words(bytes: &[u8]) -> Result<Vec<&[u8]>, GitError> {
    let mut data = Vec::new();
    for frame in pkt_line::frames(bytes) {
        match frame.map_err(GitError::corrupt)? {
            Frame::Data(word) => data.push(word),
            Frame::Flush => return Ok(data),
            Frame::Delimiter | Frame::ResponseEnd => return Err(strange()),
        }
    }
    Err(strange())
}

fn strange() -> GitError {
    GitError::Corrupt("a hook and the server do not understand each other".to_owned())
}

#[cfg(test)]
mod tests {
    use super::{Answer, HookRequest, Moment, RefCommand, Report};
    use crate::git::Oid;

    #[test]
    fn questions_and_answers_survive_the_way() {
        let id = Some(Oid::EMPTY_TREE);
        let question = HookRequest {
            identity: "a.b.c".to_owned(),
            moment: Moment::Settled,
            quarantine: Some("/x/y z".into()),
            commands: vec![
                RefCommand { name: "refs/heads/a b".into(), old: None, new: id },
                RefCommand { name: b"refs/tags/\xff".into(), old: id, new: None },
            ],
        };
        assert_eq!(HookRequest::decode(&question.encode()).unwrap(), question);
        let report = Report {
            refs: vec![("refs/heads/a".into(), None), ("refs/x".into(), Some("Not so.".into()))],
            lines: vec!["say so".to_owned(), String::new()],
        };
        let no = Answer::No(vec!["One.".to_owned(), String::new()]);
        for answer in [Answer::Yes, no, Answer::Report(report)] {
            assert_eq!(Answer::decode(&answer.encode()).unwrap(), answer);
        }
    }

    #[test]
    fn a_reason_takes_one_line() {
        let command = RefCommand { name: "refs/heads/a".into(), old: None, new: None };
        let report = Report::refusing(&[command], "First.\nSecond.", Vec::new());

        let Answer::Report(read) = Answer::decode(&Answer::Report(report).encode()).unwrap() else {
            panic!("no report");
        };

        assert_eq!(read.refs[0].1.as_deref(), Some("First."));
    }

    #[test]
    fn a_message_that_breaks_off_is_none() {
        let whole = Answer::No(vec!["Not so.".to_owned()]).encode();
        for end in 0..whole.len() {
            assert!(Answer::decode(&whole[..end]).is_err());
        }
    }

    #[test]
    fn lines_of_hooks_are_read() {
        let zero = Oid::NULL;
        let tree = Oid::EMPTY_TREE;
        let read = RefCommand::parse(format!("{zero} {tree} refs/heads/x").as_bytes()).unwrap();
        assert_eq!(read, RefCommand { name: "refs/heads/x".into(), old: None, new: Some(tree) });
        assert_eq!(RefCommand::parse(b"ref:refs/heads/a ref:refs/heads/b HEAD"), None);
        assert_eq!(RefCommand::parse(b""), None);
    }
}
