//! A log as somebody follows it: what is there, then each piece as it is written, then how the job ended.

use std::{
    fs::File,
    io::{self, Read as _, Seek as _, SeekFrom},
    time::Duration,
};

use ci::{
    Status,
    job::{Job, JobStore as _},
    log::{LogKey, LogStore as _},
};
use futures_util::{Stream, stream::try_unfold};
use kernel::{Error, Result, task::spawn_blocking};
use tokio::time::{Instant, sleep, sleep_until};

use super::{
    log_followers::FollowerSlot,
    logs::{close, log_place},
};
use crate::{Forge, slots::SlotOwner};

/// Bytes that are sent at once.
const BLOCK: u64 = 64 << 10;
/// After so long without news a sign of life is sent, so that nobody between takes the connection for dead.
const QUIET: Duration = Duration::from_secs(15);
/// So long somebody may follow before they have to ask again, and with that whether they still may.
const LONGEST: Duration = Duration::from_secs(600);
/// Bytes of a character.
const WIDEST: usize = 4;

/// An update for a log follower.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogNews {
    /// A piece of the log, and where it ends.
    Piece { bytes: Vec<u8>, end: u64 },
    /// Nothing for a while.
    Quiet,
    /// The job has ended so, and all of its log was told.
    End(Status),
}

/// The data read for one block.
enum Block {
    Bytes(Vec<u8>),
    /// All that can be shown was read.
    Exhausted,
}

struct Follower {
    forge: Forge,
    following: FollowerSlot,
    job: Job,
    /// How much was told.
    at: u64,
    sees_restricted: bool,
    /// The last facts that were looked up.
    facts: Option<u64>,
    ended: Option<Status>,
    is_done: bool,
    until: Instant,
}

/// Follows the log of a job from a byte on. `sees_restricted` says whether the caller may see logs that are for developers.
/// The stream ends without [`LogNews::End`] where it has lasted long, where the server stops, and where the log is not for the
/// caller any more.
///
/// # Errors
/// `TooMany` where too many follow logs already.
pub fn follow(
    forge: &Forge,
    job: Job,
    from: u64,
    sees_restricted: bool,
    who: SlotOwner,
) -> Result<impl Stream<Item = Result<LogNews>> + use<>> {
    let following = forge.followers.follow(job.id, job.pipeline_id, who)?;
    let follower = Follower {
        forge: forge.clone(),
        following,
        job,
        at: from,
        sees_restricted,
        facts: None,
        ended: None,
        is_done: false,
        until: Instant::now() + LONGEST,
    };
    Ok(try_unfold(follower, |mut follower| async move {
        let news = follower.next().await?;
        Ok(news.map(|news| (news, follower)))
    }))
}

impl Follower {
    async fn next(&mut self) -> Result<Option<LogNews>> {
        while !self.is_done && Instant::now() < self.until {
            // Taken before anything is looked at: what happens from here on wakes this again.
            let facts = self.following.pulse.borrow_and_update().facts;
            if self.facts != Some(facts) {
                if !self.refresh().await? {
                    return Ok(None);
                }
                self.facts = Some(facts);
            }
            let block = self.read().await?;
            if self.following.pulse.borrow().facts != facts {
                // A log is restricted before anything is written that not everybody may see: what was read now may be that.
                continue;
            }
            if let Block::Bytes(bytes) = block {
                self.at += u64::try_from(bytes.len()).unwrap_or_default();
                return Ok(Some(LogNews::Piece { bytes, end: self.at }));
            }
            if let Some(status) = self.ended {
                self.is_done = true;
                return Ok(Some(LogNews::End(status)));
            }
            tokio::select! {
                changed = self.following.pulse.changed() => if changed.is_err() { return Ok(None) },
                () = sleep(QUIET) => return Ok(Some(LogNews::Quiet)),
                () = sleep_until(self.until) => {}
            }
        }
        Ok(None)
    }

    /// How the job is by now; false where its log is not for the caller.
    async fn refresh(&mut self) -> Result<bool> {
        let id = self.job.id;
        let known = self.forge.db.read(move |tx| Ok((tx.find_any_job(id)?, tx.find_log(id)?)));
        let (Some(job), log) = known.await? else { return Ok(false) };
        if log.is_some_and(|log| log.restricted) && !self.sees_restricted {
            return Ok(false);
        }
        if job.status.is_complete() {
            close(&self.forge, &job).await?;
            self.ended = Some(job.status);
        }
        Ok(true)
    }

    async fn read(&self) -> Result<Block> {
        let (forge, place, at) = (self.forge.clone(), log_place(&self.job), self.at);
        let is_last = self.ended.is_some();
        let read = spawn_blocking(move || read_block(&forge, place, at, is_last));
        read.await.map_err(Error::internal)?.map_err(Error::internal)
    }
}

/// What follows in a log. A character is cut in two only where nothing comes behind it.
fn read_block(forge: &Forge, place: LogKey, at: u64, is_last: bool) -> io::Result<Block> {
    let shown = forge.logs.shown(place);
    if at >= shown {
        return Ok(Block::Exhausted);
    }
    let mut file = match File::open(forge.logs.path(place)) {
        Err(absent) if absent.kind() == io::ErrorKind::NotFound => return Ok(Block::Exhausted),
        file => file?,
    };
    file.seek(SeekFrom::Start(at))?;
    let mut bytes = Vec::new();
    file.take((shown - at).min(BLOCK)).read_to_end(&mut bytes)?;
    if !is_last || shown - at > BLOCK {
        bytes.truncate(bytes.len() - cut_character(&bytes));
    }
    Ok(if bytes.is_empty() { Block::Exhausted } else { Block::Bytes(bytes) })
}

/// How many bytes at the end begin a character that is not all there.
fn cut_character(bytes: &[u8]) -> usize {
    for (index, byte) in bytes.iter().rev().take(WIDEST - 1).enumerate() {
        let there = index + 1;
        let whole = match byte {
            0x80..=0xbf => continue,
            0xc2..=0xdf => 2,
            0xe0..=0xef => 3,
            0xf0..=0xf4 => 4,
            _ => return 0,
        };
        return if there < whole { there } else { 0 };
    }
    0
}

#[cfg(test)]
mod tests {
    use super::cut_character;

    #[test]
    fn only_a_character_that_may_yet_become_whole_is_kept_back() {
        for (bytes, cut) in [
            (&b""[..], 0),
            (b"abc", 0),
            ("aü".as_bytes(), 0),
            (&"aü".as_bytes()[..2], 1),
            (&"€".as_bytes()[..2], 2),
            (&"😀".as_bytes()[..3], 3),
            ("😀".as_bytes(), 0),
            (b"a\xff", 0),
            (b"\x80\x80\x80\x80", 0),
        ] {
            assert_eq!(cut_character(bytes), cut, "{bytes:?}");
        }
    }
}
