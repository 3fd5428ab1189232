//! How git asks, in the middle of a push, whether and when its refs may move.
//!
//! Git runs two hooks, both links to our own program. They carry what git says over a unix socket to the server that
//! started the push, and its answer back. Nothing else is decided in them.

mod client;
mod place;
mod server;

use std::path::PathBuf;

use bstr::{BString, ByteSlice};

pub use client::run_if_called;
pub use place::Hooks;
pub use server::{Listener, Referee, listen};

use super::pkt_line::{self, Frame};
use super::{GitError, Oid};

/// Names the socket in the environment of a push.
pub const SOCKET: &str = "FORGEWAY_HOOK_SOCKET";
/// Carries the signed statement of whose push it is.
pub const IDENTITY: &str = "FORGEWAY_HOOK_IDENTITY";

const PRE_RECEIVE: &str = "pre-receive";
const REFERENCE_TRANSACTION: &str = "reference-transaction";

/// Where a push has got to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// Everything has arrived; its objects are still in quarantine.
    Received,
    /// Git has locked these refs and checked the old values.
    Prepared,
    /// Git has moved them.
    Committed,
    /// Git has let go of them.
    Aborted,
}

impl Moment {
    const ALL: [Self; 4] = [Self::Received, Self::Prepared, Self::Committed, Self::Aborted];

    fn word(self) -> &'static str {
        match self {
            Self::Received => "received",
            Self::Prepared => "prepared",
            Self::Committed => "committed",
            Self::Aborted => "aborted",
        }
    }

    fn find(word: &[u8]) -> Option<Self> {
        Self::ALL.into_iter().find(|moment| moment.word().as_bytes() == word)
    }
}

/// One ref as the pusher names it: nothing about the name is checked yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    pub name: BString,
    pub old: Option<Oid>,
    pub new: Option<Oid>,
}

impl Asked {
    /// `<old> <new> <name>`, as hooks read it.
    fn parse(line: &[u8]) -> Option<Self> {
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

/// What git wants to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    pub identity: String,
    pub moment: Moment,
    /// The folder of the objects that have just arrived, where there are any.
    pub quarantine: Option<PathBuf>,
    pub asked: Vec<Asked>,
}

/// What the server says to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    Yes,
    /// The push ends here; the pusher reads these lines.
    No(Vec<String>),
}

impl Question {
    fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        pkt_line::push_data(&mut bytes, self.identity.as_bytes());
        pkt_line::push_data(&mut bytes, self.moment.word().as_bytes());
        let quarantine = self.quarantine.as_deref().unwrap_or("".as_ref());
        pkt_line::push_data(&mut bytes, quarantine.as_os_str().as_encoded_bytes());
        for asked in &self.asked {
            pkt_line::push_data(&mut bytes, &asked.line());
        }
        pkt_line::push_flush(&mut bytes);
        bytes
    }

    fn decode(bytes: &[u8]) -> Result<Self, GitError> {
        let data = words(bytes)?;
        let [identity, moment, quarantine, asked @ ..] = data.as_slice() else {
            return Err(strange());
        };
        let asked = asked.iter().map(|line| Asked::parse(line).ok_or_else(strange));
        let quarantine = quarantine.to_path().or(Err(strange()))?;
        Ok(Self {
            identity: identity.to_str().or(Err(strange()))?.to_owned(),
            moment: Moment::find(moment).ok_or_else(strange)?,
            quarantine: (!quarantine.as_os_str().is_empty()).then(|| quarantine.to_owned()),
            asked: asked.collect::<Result<_, _>>()?,
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
    use super::{Answer, Asked, Moment, Question};
    use crate::git::Oid;

    #[test]
    fn questions_and_answers_survive_the_way() {
        let id = Some(Oid::EMPTY_TREE);
        let question = Question {
            identity: "a.b.c".to_owned(),
            moment: Moment::Prepared,
            quarantine: Some("/x/y z".into()),
            asked: vec![
                Asked { name: "refs/heads/a b".into(), old: None, new: id },
                Asked { name: b"refs/tags/\xff".into(), old: id, new: None },
            ],
        };
        assert_eq!(Question::decode(&question.encode()).unwrap(), question);
        for answer in [Answer::Yes, Answer::No(vec!["One.".to_owned(), String::new()])] {
            assert_eq!(Answer::decode(&answer.encode()).unwrap(), answer);
        }
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
        let read = Asked::parse(format!("{zero} {tree} refs/heads/x").as_bytes()).unwrap();
        assert_eq!(read, Asked { name: "refs/heads/x".into(), old: None, new: Some(tree) });
        // Later versions of git also tell of symbolic refs.
        assert_eq!(Asked::parse(b"ref:refs/heads/a ref:refs/heads/b HEAD"), None);
        assert_eq!(Asked::parse(b""), None);
    }
}
