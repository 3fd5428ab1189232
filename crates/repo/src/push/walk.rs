//! A walk over the new commits of a push, which lie in quarantine or have just been written.

use std::{collections::HashSet, sync::Arc};

use super::{
    Incoming, RefChange,
    incoming::{PushReader, in_background},
};
use crate::{
    git::{Deadline, Oid, Result, reader::RawCommit},
    push_rule::{Person, PushRuleChecker, judge::Commit},
};
use bstr::ByteSlice as _;

/// The checks of a walk.
#[derive(Clone, Copy, Debug)]
pub(super) struct WalkDetail {
    pub(super) names: bool,
    pub(super) commits: bool,
    pub(super) sizes: bool,
}

impl WalkDetail {
    const NOTHING: Self = Self { names: false, commits: false, sizes: false };

    pub(super) fn all(judge: &PushRuleChecker) -> Self {
        let (names, commits) = (judge.asks_for_file_names(), judge.asks_for_commits());
        Self { names, commits, sizes: judge.largest_file().is_some() }
    }

    pub(super) fn names(judge: &PushRuleChecker) -> Self {
        Self { names: judge.asks_for_file_names(), ..Self::NOTHING }
    }

    pub(super) fn commits(judge: &PushRuleChecker) -> Self {
        Self { commits: judge.asks_for_commits(), ..Self::NOTHING }
    }

    pub(super) fn is_nothing(self) -> bool {
        !(self.names || self.commits || self.sizes)
    }
}

/// The first complaint of each kind.
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub(super) name: Option<String>,
    pub(super) commit: Option<String>,
    pub(super) size: Option<String>,
}

impl Findings {
    /// The one that is told.
    pub(super) fn first(self) -> Option<String> {
        self.name.or(self.commit).or(self.size)
    }

    pub(super) fn or(self, later: Self) -> Self {
        Self {
            name: self.name.or(later.name),
            commit: self.commit.or(later.commit),
            size: self.size.or(later.size),
        }
    }
}

/// Violations in some commits, before their authors are looked up.
#[derive(Debug, Default)]
pub(super) struct WalkFindings {
    pub(super) findings: Findings,
    /// Authors and committers of the commits before the one that is complained about, and of that one.
    people: Vec<(String, String)>,
    /// Whether the last of those people belong to a commit that is complained about anyway.
    broken: bool,
}

impl WalkFindings {
    /// In small letters.
    pub(super) fn addresses(&self) -> HashSet<String> {
        let both = |(author, committer): &(String, String)| {
            [author, committer].map(|it| it.to_lowercase())
        };
        self.people.iter().flat_map(both).collect()
    }

    /// Complains about people whom nobody knows, where that comes first.
    pub(super) fn check_members(&mut self, judge: &PushRuleChecker, known: &HashSet<String>) {
        let counted = self.people.len() - usize::from(self.broken);
        let unknown = self.people[..counted].iter().find_map(|(author, committer)| {
            judge.check_members(author, committer, |email| known.contains(email))
        });
        if unknown.is_some() {
            self.findings.commit = unknown;
        }
    }
}

pub(super) struct Walk {
    sight: PushReader,
    judge: Arc<PushRuleChecker>,
    pusher: Arc<Person>,
    /// The commit that the server itself has made.
    made: Option<Oid>,
    deadline: Deadline,
}

impl Walk {
    /// Opens the way and finds the commits that no branch or tag has yet, newest first.
    pub(super) async fn begin(
        incoming: Incoming,
        judge: Arc<PushRuleChecker>,
        pusher: Arc<Person>,
        made: Option<Oid>,
        deadline: Deadline,
        changes: Vec<RefChange>,
    ) -> Result<(Self, Vec<Oid>)> {
        let place = incoming.clone();
        let opened = in_background(move || {
            let sight = place.sight()?;
            let mut tips = Vec::new();
            for id in changes.iter().filter_map(|change| change.new) {
                tips.extend(sight.reader().peeled(id)?);
            }
            let alone = match (changes.as_slice(), tips.as_slice()) {
                ([change], [tip]) if made == Some(*tip) => {
                    let parents = sight.reader().written(*tip)?.parents;
                    parents.iter().all(|parent| change.old == Some(*parent))
                }
                _ => false,
            };
            Ok((Self { sight, judge, pusher, made, deadline }, tips, alone))
        });
        let (walk, tips, alone) = opened.await?;
        // A commit that was made on top of its branch is the only new one.
        let ids = if alone { tips } else { incoming.new_commits(&tips).await? };
        Ok((walk, ids))
    }

    pub(super) async fn inspect(
        self,
        ids: Vec<Oid>,
        wanted: WalkDetail,
    ) -> Result<(Self, WalkFindings)> {
        in_background(move || {
            let mut glance = WalkFindings::default();
            for id in ids {
                self.deadline.check()?;
                self.inspect_commit(id, wanted, &mut glance)?;
                if glance.findings.name.is_some() {
                    break;
                }
            }
            Ok((self, glance))
        })
        .await
    }

    fn inspect_commit(&self, id: Oid, wanted: WalkDetail, glance: &mut WalkFindings) -> Result<()> {
        let written = self.sight.reader().written(id)?;
        if wanted.commits && !glance.broken {
            let exempt = self.made == Some(id);
            let complaint = self.judge.check_commit(&as_commit(&written), &self.pusher, exempt);
            glance.broken = complaint.is_some();
            glance.findings.commit = complaint;
            if self.judge.asks_for_members() {
                let people = (written.author_email.clone(), written.committer_email.clone());
                glance.people.push(people);
            }
        }
        if wanted.names || wanted.sizes {
            self.look_at_files(&written, wanted, &mut glance.findings)?;
        }
        Ok(())
    }

    fn look_at_files(
        &self,
        written: &RawCommit,
        wanted: WalkDetail,
        into: &mut Findings,
    ) -> Result<()> {
        let reader = self.sight.reader();
        for file in reader.arrivals(written)? {
            if wanted.names && file.is_new && into.name.is_none() {
                into.name = self.judge.check_file_name(file.path.as_bstr());
            }
            if wanted.sizes && file.is_blob && into.size.is_none() {
                let bytes = reader.size_of(file.id)?;
                into.size = self.judge.check_file_size(file.path.as_bstr(), bytes);
            }
        }
        Ok(())
    }
}

fn as_commit(written: &RawCommit) -> Commit<'_> {
    Commit {
        message: written.message.as_bstr(),
        author_name: &written.author_name,
        author_email: &written.author_email,
        committer_email: &written.committer_email,
        is_signed: written.is_signed,
    }
}
