//! Push rules applied to what arrives: its names, its new commits and their files, each looked at once.
//!
//! The order in which refusals are told is fixed. Ref by ref, whether it may move and how its new files are called; when
//! all may, ref by ref, how they are called and what their new commits say; the sizes of files last.

use std::{collections::HashSet, sync::Arc, time::Duration};

use db::Database;
use kernel::{Error, Result};

use super::{
    Incoming, Push, PushSource, RefChange, check, owners,
    walk::{Findings, Walk, WalkDetail},
};
use crate::{
    git::{Deadline, GitError, RefKind},
    ports::People,
    protection,
    push_rule::{Person, PushRuleChecker, actions::enforced},
};

/// No push is looked at for longer.
const LONGEST: Duration = Duration::from_secs(600);
/// So many commits are looked at before people are asked after.
const AT_ONCE: usize = 512;

/// Refuses what the project's rules forbid, in the words that the pusher reads. Pushes of the API are checked again when
/// they are decided, so without a push rule this costs them one look.
pub async fn check_push_rule(
    db: &Database,
    people: &Arc<dyn People>,
    incoming: &Incoming,
    push: &Push,
) -> Result<()> {
    let (project, asked) = (push.project.id, push.clone());
    let looked =
        db.peek(move |tx| Ok((enforced(tx, project)?, owners::guarded(tx, &asked)?))).await?;
    let (terms, guarded) = looked;
    match terms.filter(|_| !push.by_server) {
        None => {
            let push = push.clone();
            match push.via {
                PushSource::Api | PushSource::Merge => Ok(()),
                PushSource::Git => db.read(move |tx| check(tx, &push)).await,
            }
        }
        Some(terms) => {
            let judge = Arc::new(PushRuleChecker::new(terms)?);
            let (refused, pusher) = permission(db, people, &judge, push).await?;
            let pusher = Arc::new(pusher);
            Examination { db, people, incoming, push, judge, pusher }.run(refused).await
        }
    }?;
    owners::ensure_unowned(incoming, push, &guarded).await
}

/// The place of the first ref that may not move at all, with the sentence that says so.
type FirstRefusal = Option<(usize, String)>;

async fn permission(
    db: &Database,
    people: &Arc<dyn People>,
    judge: &PushRuleChecker,
    push: &Push,
) -> Result<(FirstRefusal, Person)> {
    let (push, people) = (push.clone(), Arc::clone(people));
    let asks_for_pusher = judge.asks_for_pusher();
    let answered = db.read(move |tx| {
        let (who, facts) = (&push.who, &push.project);
        let (changes, fork_push_access) = (&push.changes, push.fork_push_access.as_deref());
        let refused =
            protection::rules::first_refusal(tx, who, facts, changes, push.via, fork_push_access)?;
        let pusher = match push.who.actor.id.filter(|_| asks_for_pusher) {
            Some(user) => people.person(tx, user)?,
            None => Person::default(),
        };
        Ok((refused, pusher))
    });
    answered.await
}

struct Examination<'a> {
    db: &'a Database,
    people: &'a Arc<dyn People>,
    incoming: &'a Incoming,
    push: &'a Push,
    judge: Arc<PushRuleChecker>,
    pusher: Arc<Person>,
}

impl Examination<'_> {
    async fn run(&self, refused: FirstRefusal) -> Result<()> {
        let end = refused.as_ref().map_or(self.push.changes.len(), |(place, _)| *place);
        let allowed = &self.push.changes[..end];
        let misnamed = allowed
            .iter()
            .enumerate()
            .find_map(|(place, change)| Some((place, self.misnamed(change)?)));
        if refused.is_none() && misnamed.is_none() {
            return told(
                self.inspect_changes(allowed, WalkDetail::all(&self.judge)).await?.first(),
            );
        }
        told(self.inspect_changes(allowed, WalkDetail::names(&self.judge)).await?.name)?;
        told(refused.map(|(_, text)| text))?;
        let Some((place, text)) = misnamed else { return Ok(()) };
        told(
            self.inspect_changes(&allowed[..place], WalkDetail::commits(&self.judge)).await?.commit,
        )?;
        told(Some(text))
    }

    /// What is wrong with the ref itself.
    fn misnamed(&self, change: &RefChange) -> Option<String> {
        let name = change.name.short();
        match (change.name.kind(), change.new) {
            (RefKind::Tag, None) if self.push.via == PushSource::Git => {
                self.judge.check_tag_deletion()
            }
            (RefKind::Branch, Some(_)) if !self.is_default(change) => {
                self.judge.check_branch_name(&name)
            }
            _ => None,
        }
    }

    /// The default branch may be called as it is, and so may the one that becomes it.
    fn is_default(&self, change: &RefChange) -> bool {
        match &self.push.project.default_branch {
            Some(branch) => change.name.short() == *branch,
            None => self.push.becomes_default.as_ref() == Some(&change.name),
        }
    }

    /// Looks at the new commits of these refs.
    async fn inspect_changes(&self, changes: &[RefChange], wanted: WalkDetail) -> Result<Findings> {
        let mut findings = Findings::default();
        if wanted.is_nothing() {
            return Ok(findings);
        }
        // Notes are nobody's work: what they hold counts as new wherever it comes next.
        let arriving = changes.iter().filter(|change| change.name.kind() != RefKind::Other);
        let arriving: Vec<RefChange> =
            arriving.filter(|change| change.new.is_some()).cloned().collect();
        let (incoming, made) = (self.incoming.clone(), self.push.made);
        let (judge, pusher) = (Arc::clone(&self.judge), Arc::clone(&self.pusher));
        let deadline = Deadline::after(LONGEST);
        let (walk, ids) = Walk::begin(incoming, judge, pusher, made, deadline, arriving).await?;
        let (mut walk, mut known) = (walk, HashSet::new());
        for chunk in ids.chunks(AT_ONCE) {
            let still =
                WalkDetail { commits: wanted.commits && findings.commit.is_none(), ..wanted };
            let (back, mut glance) = walk.inspect(chunk.to_vec(), still).await.map_err(busy)?;
            walk = back;
            if still.commits && self.judge.asks_for_members() {
                self.learn(&mut known, &glance.addresses()).await?;
                glance.check_members(&self.judge, &known);
            }
            findings = findings.or(glance.findings);
            if findings.name.is_some() {
                break;
            }
        }
        Ok(findings)
    }

    /// Asks which of these addresses belong to somebody. Only those that do are remembered.
    async fn learn(&self, known: &mut HashSet<String>, emails: &HashSet<String>) -> Result<()> {
        let new: Vec<String> = emails.difference(known).cloned().collect();
        if new.is_empty() {
            return Ok(());
        }
        let people = Arc::clone(self.people);
        known.extend(self.db.read(move |tx| people.known(tx, &new)).await?);
        Ok(())
    }
}

fn told(complaint: Option<String>) -> Result<()> {
    complaint.map_or(Ok(()), |text| Err(Error::bad_request().whole(text)))
}

fn busy(error: GitError) -> Error {
    match error {
        GitError::Timeout => Error::bad_request()
            .whole("Looking at the new commits took too long. Please push fewer."),
        other => other.into(),
    }
}
